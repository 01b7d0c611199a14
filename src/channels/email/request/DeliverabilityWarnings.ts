import { Effect, Option } from "effect"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { domainOf, type EmailAddress } from "../../../values/EmailAddress.ts"
import { loopbackHosts } from "../../../values/HttpsUrl.ts"
import type { AccountId } from "../../../values/Ids.ts"
import { greetingName } from "../smtp/greetingName.ts"
import { DefaultSender } from "./DefaultSender.ts"

const unverified =
  "The domain of the default sender is not verified: its mail has no DKIM signature, and Gmail and Yahoo refuse bulk mail without. Send from a verified domain of your own."

/** What large receivers hold against bulk mail of a service that stands at this URL and says this name in EHLO. */
const bulkWarnings = ({ base, greeting }: {
  readonly base: string
  readonly greeting: string | undefined
}): ReadonlyArray<string> => {
  const { hostname, protocol } = new URL(base)
  const isPublic = protocol === "https:" && !loopbackHosts.has(hostname.replace(/^\[(.*)\]$/, "$1"))
  return [
    ...(isPublic ? [] : [
      "Unsubscribing by one click does not work, which Gmail and Yahoo want of bulk mail: the operator has to set PUBLIC_URL to an https URL that readers reach."
    ]),
    ...(greeting === undefined
      ? [
        "The service has no full host name for EHLO, and receivers think less of mail that begins so: the operator has to set HELO_NAME."
      ]
      : [])
  ]
}

/**
 * What large receivers will hold against mail, by what is known already: nobody is asked while a mail is accepted. The
 * default sender and the service itself are judged only where a relay takes mail to real receivers.
 */
export const makeDeliverabilityWarnings = Effect.gen(function*() {
  const registrations = yield* DomainRegistrations
  const standard = yield* DefaultSender
  const { heloName, smtpUrl } = yield* AppConfig
  const { base } = yield* PublicUrl
  const hasRelay = smtpUrl !== undefined
  const ofService = hasRelay ? bulkWarnings({ base, greeting: greetingName(heloName) }) : []

  /** Of mail from a sender of the account; without one from the default sender. */
  const ofSender = Effect.fnUntraced(function*(accountId: AccountId, from: EmailAddress | undefined) {
    if (from !== undefined) return yield* registrations.warnings(accountId, from)
    if (!hasRelay) return []
    const known = yield* registrations.verifiedWarnings(domainOf(standard.address))
    return Option.getOrElse(known, (): ReadonlyArray<string> => [unverified])
  })

  return {
    ofSender,
    ofBulk: (accountId: AccountId, from: EmailAddress | undefined) =>
      Effect.map(ofSender(accountId, from), (warnings) => [...warnings, ...ofService])
  }
})
