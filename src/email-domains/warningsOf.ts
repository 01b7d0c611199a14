import type { DomainCheck, Purpose } from "./EmailDomain.ts"

/** Gmail and Yahoo ask these of whoever sends 5,000 mails a day to them; MX is no part of it. */
const asked: ReadonlyArray<readonly [purpose: Purpose, warning: string]> = [
  [
    "DKIM",
    "The DKIM key is not published as it should be: receivers cannot verify signatures, and Gmail and Yahoo refuse bulk mail without."
  ],
  ["SPF", "There is no SPF record that includes this service: Gmail and Yahoo refuse bulk mail without."],
  [
    "DMARC",
    "There is no DMARC policy: Gmail and Yahoo refuse bulk mail from domains without, a policy of p=none is enough."
  ]
]

/** What large receivers will hold against bulk mail from a domain, by its last check; nothing when none was made. */
export const warningsOf = (check: DomainCheck | null): ReadonlyArray<string> =>
  asked.flatMap(([purpose, warning]) => {
    const status = check?.find((record) => record.purpose === purpose)?.status
    return status === undefined || status === "verified" || status === "temporary_error" ? [] : [warning]
  })
