import type { Notice } from "../accounts/Notice.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import type { DomainCheck } from "./EmailDomain.ts"

/** A domain with its account. */
export interface OwnedDomain {
  readonly id: EmailDomainId
  readonly account_id: AccountId
  readonly domain: string
}

/** At most once a day for each domain, so that frequent DNS changes do not flood a mailbox. */
const about = ({ account_id, id }: OwnedDomain) => ({ accountId: account_id, once: `domain ${id}` })

/** For a domain whose required records were found. */
export const verifiedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_verified",
  subject: `${owned.domain} is verified`,
  body: `The DNS records of ${owned.domain} were found. You can now use it in "from".\n\n`
    + "Keep the records: the service checks them once a day."
})

/** For a domain whose required records were wrong for too long. Names the fault of each record. */
export const unverifiedNotice = (owned: OwnedDomain, check: DomainCheck): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body: [
    `The DNS records of ${owned.domain} have been wrong for two days. Mail from this domain is refused`
    + " until they are correct.",
    ...check
      .filter(({ purpose, status }) => (purpose === "DKIM" || purpose === "SPF") && status !== "verified")
      .map(({ detail, purpose }) => `${purpose}: ${detail}`),
    "The service checks again for three days. After that, start a check when the records are in place."
  ].join("\n\n")
})

/** For a domain whose published DKIM key now belongs to another account. */
export const displacedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body: `The DKIM key published for ${owned.domain} belongs to another account, so that account controls the domain.`
    + " Mail of your account from this domain is refused.\n\n"
    + "If the domain is yours, publish your DKIM record again and start a check. If not, delete it from your account."
})
