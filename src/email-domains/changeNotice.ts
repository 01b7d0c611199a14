import type { Notice } from "../accounts/Notice.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import type { DomainCheck } from "./EmailDomain.ts"

/** Whose domain it is. */
export interface OwnedDomain {
  readonly id: EmailDomainId
  readonly account_id: AccountId
  readonly domain: string
}

/** Once a day and domain: who moves DNS to and fro must not flood a mailbox. */
const about = ({ account_id, id }: OwnedDomain) => ({ accountId: account_id, once: `domain ${id}` })

/** Told when the required records were found. */
export const verifiedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_verified",
  subject: `${owned.domain} is verified`,
  body: `The DNS records of ${owned.domain} were found. From now on the domain may stand in "from" of your mails.\n\n`
    + "Leave the records where they are: they are checked once a day."
})

/** Told when the required records have been gone for too long; names what is wrong with each. */
export const unverifiedNotice = (owned: OwnedDomain, check: DomainCheck): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body: [
    `For two days the DNS records of ${owned.domain} were not as they have to be. Mails from this domain are refused`
    + " until they are.",
    ...check
      .filter(({ purpose, status }) => (purpose === "DKIM" || purpose === "SPF") && status !== "verified")
      .map(({ detail, purpose }) => `${purpose}: ${detail}`),
    "The records are looked for again for three days; after that, ask for a check when they are in place."
  ].join("\n\n")
})

/** Told when the records of another account's key were found in the place of this one's. */
export const displacedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body:
    `The DKIM key that is published for ${owned.domain} belongs to another account, which has proved with it that it`
    + " controls the domain. Mails of your account from this domain are refused.\n\n"
    + "If the domain is yours, publish your own DKIM record again and ask for a check. If it is not, delete it."
})
