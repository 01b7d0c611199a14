import { Context, Effect, Layer, Option, Result } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { parseDomainName } from "../../../values/DomainName.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import type { SmtpMail } from "../smtp/Smtp.ts"
import { bounceSettings } from "./bounceSettings.ts"
import { readVerpLocalPart, readVerpToken, verpLocalPart, verpToken } from "./VerpAddress.ts"

/** What comes to an address of ours is about. */
export type Addressee =
  /** A message's return path. */
  | { readonly _tag: "Message"; readonly id: EmailMessageId }
  /** The address in a message's List-Unsubscribe. */
  | { readonly _tag: "Unsubscribe"; readonly id: EmailMessageId }
  /** `fbl@`, the address that feedback loops are registered with; the report itself has to name the message. */
  | { readonly _tag: "FeedbackLoop" }

/**
 * The addresses that reports about our mail come to: each message has a return path of its own (VERP) at the bounce
 * domain. Without a bounce domain there are none, and mail has its sender as its return path.
 */
export class ReturnPaths extends Context.Service<ReturnPaths, {
  /** The domain in force. */
  readonly domain: string | undefined
  /** What a recipient's mail program may write to, to get no more from the message's sender (RFC 2369 3.2). */
  readonly unsubscribeMailto: (id: EmailMessageId) => string | undefined
  /**
   * The envelope of a message that has one recipient: its own return path, and the wish to be told of its end (RFC 3461),
   * which relays that know no DSN are not told of. Without a bounce domain the envelope is as it was given.
   */
  readonly envelopeOf: (id: EmailMessageId, envelope: SmtpMail["envelope"]) => SmtpMail["envelope"]
  /** Names the message in its Message-ID; made also without a bounce domain, as there may be one later. */
  readonly tokenOf: (id: EmailMessageId) => string
  /** The message of a token, if it is one of ours. */
  readonly messageOf: (token: string) => Option.Option<EmailMessageId>
  /** What an address of the bounce domain stands for; nothing for every other one. */
  readonly read: (address: string) => Option.Option<Addressee>
}>()("messaging-service/channels/email/reports/ReturnPaths") {
  static readonly layer = Layer.effect(
    ReturnPaths,
    Effect.gen(function*() {
      const { bounce: key, unsubscribe: unsubscribeKey } = yield* MacKeys
      const { domain } = yield* bounceSettings
      const addresseeOf = (local: string): Option.Option<Addressee> => {
        if (local.toLowerCase() === "fbl") return Option.some({ _tag: "FeedbackLoop" })
        const message = Option.map(readVerpLocalPart("b", key, local), (id) => ({ _tag: "Message", id }) as const)
        return Option.isSome(message)
          ? message
          : Option.map(readVerpLocalPart("u", unsubscribeKey, local), (id) => ({ _tag: "Unsubscribe", id }))
      }
      return ReturnPaths.of({
        domain,
        envelopeOf: (id, envelope) =>
          domain === undefined ? envelope : {
            from: `${verpLocalPart("b", key, id)}@${domain}`,
            to: envelope.to,
            dsn: { envid: verpToken(key, id), notify: ["SUCCESS", "FAILURE", "DELAY"], ret: "HDRS", orcpt: envelope.to }
          },
        tokenOf: (id) => verpToken(key, id),
        messageOf: (token) => readVerpToken(key, token),
        read: (address) => {
          const at = address.lastIndexOf("@")
          // The listener's library gives an internationalised domain in Unicode, however it was written.
          const written = Result.getOrUndefined(parseDomainName(address.slice(at + 1)))
          if (written === undefined || written !== domain) return Option.none()
          return addresseeOf(address.slice(0, at))
        },
        // Some mail programs send no mail without a subject.
        unsubscribeMailto: (id) =>
          domain === undefined ? undefined : `${verpLocalPart("u", unsubscribeKey, id)}@${domain}?subject=unsubscribe`
      })
    })
  )
}
