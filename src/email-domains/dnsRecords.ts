import type { DnsRecord } from "./EmailDomain.ts"

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
