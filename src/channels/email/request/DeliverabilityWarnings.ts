import { Context, Effect, Exit, Layer, Option } from "effect"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { unknownNames } from "../../../platform/http/RequestContext.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { loopbackHosts } from "../../../values/HttpsUrl.ts"
import { greetingName } from "../smtp/SmtpUrl.ts"
import { DefaultSender } from "./DefaultSender.ts"

const unverified =
  "The domain of the default sender is not verified. Its mail has no DKIM signature, and Gmail and Yahoo refuse unsigned bulk mail. Send from a verified domain."

/** How late a warning about the default sender, which all accounts share, may be. */
const maxAge = "2 seconds"

/** Problems of the service that large receivers hold against bulk mail. */
const serviceWarnings = ({ base, greeting }: {
  readonly base: string
  readonly greeting: string | undefined
}): ReadonlyArray<string> => {
  const { hostname, protocol } = new URL(base)
  const isPublic = protocol === "https:" && !loopbackHosts.has(hostname.replace(/^\[(.*)\]$/, "$1"))
  return [
    ...(isPublic ? [] : [
      "Readers cannot unsubscribe with one click, which Gmail and Yahoo require for bulk mail. The operator must set PUBLIC_URL to an https URL that readers can reach."
    ]),
    ...(greeting === undefined
      ? [
        "The service has no full host name for EHLO, which makes receivers distrust its mail. The operator must set HELO_NAME."
      ]
      : [])
  ]
}

/**
 * Warns about problems that large receivers may have with a mail, from stored knowledge: accepting a mail asks no other
 * server. The default sender and the service are checked only if a relay delivers to real receivers.
 */
export class DeliverabilityWarnings extends Context.Service<DeliverabilityWarnings, {
  /** Adds the warnings about the names of the request to those of its sender; undefined is the default sender. */
  readonly ofSender: (warnings: ReadonlyArray<string> | undefined) => Effect.Effect<ReadonlyArray<string>>
  /** The same with the warnings about the service for a bulk email. */
  readonly ofBulk: (warnings: ReadonlyArray<string> | undefined) => Effect.Effect<ReadonlyArray<string>>
}>()("messaging-service/channels/email/request/DeliverabilityWarnings") {
  static readonly layer = Layer.effect(
    DeliverabilityWarnings,
    Effect.gen(function*() {
      const registrations = yield* DomainRegistrations
      const standard = yield* DefaultSender
      const { heloName, smtpUrl } = yield* AppConfig
      const { base } = yield* PublicUrl
      const hasRelay = smtpUrl !== "sandbox"
      const ofService = hasRelay ? serviceWarnings({ base, greeting: greetingName(heloName) }) : []

      const ofDefault = hasRelay
        ? yield* registrations.verifiedWarnings(domainOf(standard.address)).pipe(
          Effect.map(Option.getOrElse((): ReadonlyArray<string> => [unverified])),
          // A failure is not kept: the next request reads again.
          Effect.cachedWithTTL((exit) => Exit.isSuccess(exit) ? maxAge : 0)
        )
        : Effect.succeed([])

      const ofSender = (warnings: ReadonlyArray<string> | undefined) =>
        Effect.zipWith(
          unknownNames,
          warnings === undefined ? ofDefault : Effect.succeed(warnings),
          (unknown, known) => [...unknown, ...known]
        )

      return DeliverabilityWarnings.of({
        ofSender,
        ofBulk: (warnings) => Effect.map(ofSender(warnings), (known) => [...known, ...ofService])
      })
    })
  )
}
