import { Schema } from "effect"
import { EmailDomainId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** Spec 3.2 has these two. */
export const DomainStatus = Schema.Literals(["pending", "verified"])
export type DomainStatus = typeof DomainStatus.Type

/** What a record is there for; each domain has one of each (spec 2.4). */
export const Purpose = Schema.Literals(["DKIM", "SPF", "DMARC", "MX"])
export type Purpose = typeof Purpose.Type

/** A record for the owner of a domain to publish. */
export const DnsRecord = Schema.Struct({
  type: Schema.Literals(["TXT", "MX"]),
  name: Schema.String,
  value: Schema.String,
  purpose: Purpose
})
export type DnsRecord = typeof DnsRecord.Type

/**
 * What a lookup says about a record: it is as it should be, is not there, is there and does not do, is there more often
 * than it may, or the name servers gave no answer.
 */
export const RecordStatus = Schema.Literals(["verified", "missing", "mismatch", "conflict", "temporary_error"])
export type RecordStatus = typeof RecordStatus.Type

/** What a check says about a record. `detail` tells its owner what to do. */
export const Judgement = Schema.Struct({
  status: RecordStatus,
  found: Schema.Array(Schema.String),
  detail: Schema.String
})
export type Judgement = typeof Judgement.Type

/** The judgements of one check, one for each purpose. */
export const DomainCheck = Schema.Array(Schema.Struct({ purpose: Purpose, ...Judgement.fields }))
export type DomainCheck = typeof DomainCheck.Type

const named = { id: EmailDomainId, domain: Schema.String, status: DomainStatus }

/** A domain as it is right after it was added. */
export const AddedDomain = Schema.Struct({ ...named, dns_records: Schema.Array(DnsRecord) })
export type AddedDomain = typeof AddedDomain.Type

/** What is told of the mail of a domain, where a send does not say otherwise. */
const tracking = {
  track_opens: Schema.Boolean.annotate({ description: "Whether mail from it tells when it is opened" }),
  track_clicks: Schema.Boolean.annotate({ description: "Whether mail from it tells when a link is followed" })
}

/** A change of a sending domain: what is left out stays as it is. */
export const DomainChange = Schema.Struct({
  track_opens: Schema.optionalKey(tracking.track_opens),
  track_clicks: Schema.optionalKey(tracking.track_clicks)
})
export type DomainChange = typeof DomainChange.Type

/** A sending domain of an account; `domain` is in A-labels, as it stands in DNS. */
export const EmailDomain = Schema.Struct({
  ...named,
  dns_records: Schema.Array(DnsRecord),
  warnings: Schema.Array(Schema.String).annotate({
    description: "What large receivers will hold against mail from this domain, as of the last check"
  }),
  ...tracking,
  checked_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
})
export type EmailDomain = typeof EmailDomain.Type

/** A domain after a check, each of its records with what was found. */
export const CheckedDomain = Schema.Struct({
  ...named,
  dns_records: Schema.Array(Schema.Struct({ ...DnsRecord.fields, ...Judgement.fields })),
  checked_at: Timestamp
})
export type CheckedDomain = typeof CheckedDomain.Type
