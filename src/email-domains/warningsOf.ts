import type { DomainCheck, Purpose } from "./EmailDomain.ts"

/** Gmail and Yahoo require these from senders of 5,000 mails a day. They do not require MX. */
const recommended: ReadonlyArray<readonly [purpose: Purpose, warning: string]> = [
  [
    "DKIM",
    "The DKIM key is not published correctly. Receivers cannot verify signatures, and Gmail and Yahoo refuse bulk mail without them."
  ],
  ["SPF", "There is no SPF record that includes this service. Gmail and Yahoo refuse bulk mail without it."],
  [
    "DMARC",
    "There is no DMARC policy. Gmail and Yahoo refuse bulk mail without one; p=none is enough."
  ]
]

/** Why large receivers may refuse bulk mail from a domain, according to its last check; empty without a check. */
export const warningsOf = (check: DomainCheck | null): ReadonlyArray<string> =>
  recommended.flatMap(([purpose, warning]) => {
    const status = check?.find((record) => record.purpose === purpose)?.status
    return status === undefined || status === "verified" || status === "temporary_error" ? [] : [warning]
  })
