import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { EmailDomainId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** The states of spec 3.2. */
export const DomainStatus = Schema.Literals(["pending", "verified"])
export type DomainStatus = typeof DomainStatus.Type

/** The purpose of a record. Each domain has one of each (spec 2.4). */
export const Purpose = Schema.Literals(["DKIM", "SPF", "DMARC", "MX"])
export type Purpose = typeof Purpose.Type

/** A record that the owner publishes. */
export const DnsRecord = Schema.Struct({
  type: Schema.Literals(["TXT", "MX"]),
  name: Schema.String,
  value: Schema.String,
  purpose: Purpose
})
export type DnsRecord = typeof DnsRecord.Type

/**
 * The result of a lookup. `missing`: there is no record. `mismatch`: it has another value. `conflict`: there are too
 * many. `temporary_error`: the name servers did not answer.
 */
export const RecordStatus = Schema.Literals(["verified", "missing", "mismatch", "conflict", "temporary_error"])
export type RecordStatus = typeof RecordStatus.Type

/** A check's verdict on one record. `detail` tells the owner what to do. */
export const Judgement = Schema.Struct({
  status: RecordStatus,
  found: Schema.Array(Schema.String),
  detail: Schema.String
})
export type Judgement = typeof Judgement.Type

/** The verdicts of one check, one for each purpose. */
export const DomainCheck = Schema.Array(Schema.Struct({ purpose: Purpose, ...Judgement.fields }))
export type DomainCheck = typeof DomainCheck.Type

const named = { id: EmailDomainId, domain: Schema.String, status: DomainStatus }

/** A domain right after it was added. */
export const AddedDomain = Schema.Struct({ ...named, dns_records: Schema.Array(DnsRecord) }).annotate({
  identifier: "AddedEmailDomain"
})
export type AddedDomain = typeof AddedDomain.Type

/** The default tracking of mail from a domain. */
const tracking = {
  track_opens: Schema.Boolean.annotate({ description: "Whether opens of its mail are tracked" }),
  track_clicks: Schema.Boolean.annotate({ description: "Whether clicks in its mail are tracked" })
}

/** A change of a sending domain. Absent fields keep their value. */
export const DomainChange = Schema.Struct({
  track_opens: Schema.optionalKey(tracking.track_opens),
  track_clicks: Schema.optionalKey(tracking.track_clicks)
}).annotate({ identifier: "EmailDomainChange" })
export type DomainChange = typeof DomainChange.Type

/** A sending domain of an account. `domain` is in A-labels, as in DNS. */
export const EmailDomain = Schema.Struct({
  ...named,
  dns_records: Schema.Array(DnsRecord),
  warnings: Schema.Array(Schema.String).annotate({
    description: "Why large receivers may refuse mail from this domain, as of the last check"
  }),
  ...tracking,
  checked_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}).annotate({ identifier: "EmailDomain" })
export type EmailDomain = typeof EmailDomain.Type

/** A domain after a check, each record with its verdict. */
export const CheckedDomain = Schema.Struct({
  ...named,
  dns_records: Schema.Array(Schema.Struct({ ...DnsRecord.fields, ...Judgement.fields })),
  checked_at: Timestamp
}).annotate({ identifier: "CheckedEmailDomain" })
export type CheckedDomain = typeof CheckedDomain.Type

export class SenderNotVerified extends Schema.TaggedError<SenderNotVerified>()(
  "SenderNotVerified",
  { param: Schema.String, domain: Schema.String },
  wire(422, "invalid_from_domain", 4221)
) {
  override get message() {
    return `The domain ${this.domain} is not one of your verified domains. Verify it, or leave out "from" to use the default sender.`
  }
}

export class DomainAlreadyExists extends Schema.TaggedError<DomainAlreadyExists>()(
  "DomainAlreadyExists",
  { domain: Schema.String },
  wire(409, "domain_already_exists", 4092)
) {
  override get message() {
    return `Your account already has the domain ${this.domain}. List your domains to see its records, or delete it to get a new key.`
  }
}

/** The node already generates as many keys as it may, or as many for this account. */
export class KeyMakerBusy extends Schema.TaggedError<KeyMakerBusy>()(
  "KeyMakerBusy",
  {},
  wire(429, "key_maker_busy", 4292)
) {
  override get message() {
    return "Too many sending domains are being added at once. Try again in two seconds."
  }
}

/** The selector of the public key, `api._domainkey.<domain>`. The specification fixes it for all domains. */
export const dkimSelector = "api"

/** The values from which the records of a domain are built. */
export interface RecordParts {
  readonly domain: string
  /** Base64 of the DER form (RFC 6376, 3.6.1). */
  readonly publicKey: string
  /** The setting SPF_INCLUDE_HOST. */
  readonly spfHost: string
}

/** The host that should receive mail to the domain. */
export const mailHost = (domain: string) => `mail.${domain}`

/** The four records that a domain's owner publishes (spec 2.4). */
export const dnsRecords = ({ domain, publicKey, spfHost }: RecordParts): ReadonlyArray<DnsRecord> => [
  { type: "TXT", name: `${dkimSelector}._domainkey.${domain}`, value: `k=rsa;t=s;p=${publicKey}`, purpose: "DKIM" },
  { type: "TXT", name: domain, value: `v=spf1 include:${spfHost} ~all`, purpose: "SPF" },
  { type: "TXT", name: `_dmarc.${domain}`, value: "v=DMARC1; p=none; adkim=r; aspf=r", purpose: "DMARC" },
  { type: "MX", name: domain, value: `10 ${mailHost(domain)}`, purpose: "MX" }
]
