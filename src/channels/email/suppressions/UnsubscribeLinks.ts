import { Context, Effect, Layer, Option } from "effect"
import { timingSafeEqual } from "node:crypto"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { EmailMessageId } from "../../../values/Ids.ts"

const macLength = 12

/**
 * The links by which a recipient leaves a sender: `/u/{token}`, where the token names the message and carries a MAC, so
 * that nobody can unsubscribe another person by counting. They never expire.
 */
export class UnsubscribeLinks extends Context.Service<UnsubscribeLinks, {
  /** The link of one message. */
  readonly urlOf: (id: EmailMessageId) => string
  /** The message of a token, if the token is one of ours. */
  readonly messageOf: (token: string) => Option.Option<EmailMessageId>
}>()("messaging-service/channels/email/suppressions/UnsubscribeLinks") {
  static readonly layer = Layer.effect(
    UnsubscribeLinks,
    Effect.gen(function*() {
      const { unsubscribe: key } = yield* MacKeys
      const publicUrl = yield* PublicUrl
      const macOf = (id: string) => shortMac(key, id, macLength)
      return UnsubscribeLinks.of({
        urlOf: (id) => `${publicUrl.base}/u/${id}-${macOf(String(id)).toString("base64url")}`,
        messageOf: (token) => {
          const [, id, mac] = /^(\d{1,16})-([A-Za-z0-9_-]{16})$/.exec(token) ?? []
          if (id === undefined || mac === undefined) return Option.none()
          return timingSafeEqual(macOf(id), Buffer.from(mac, "base64url"))
            ? Option.some(EmailMessageId.make(Number(id)))
            : Option.none()
        }
      })
    })
  )
}
