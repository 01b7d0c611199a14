import { Context, DateTime, Effect, Layer, Option } from "effect"
import { timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import type { NotFound } from "../../../platform/http/ApiErrors.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import type { PairingLink } from "../model/Session.ts"
import { PairingUnavailable, SessionAlreadyConnected } from "../model/SessionErrors.ts"
import { Sessions } from "./Sessions.ts"

interface Which {
  readonly accountId: AccountId
  readonly id: WhatsAppSessionId
}

const lifetime = { minutes: 10 }

const macBytes = 24

/** Addresses of a page that pairs one session, for the person who holds the phone. The holder needs no sign-in. */
export class PairingLinks extends Context.Service<PairingLinks, {
  /** A link to pair a session that has no phone. It works for ten minutes. */
  readonly make: (
    which: Which
  ) => Effect.Effect<PairingLink, NotFound | SessionAlreadyConnected | PairingUnavailable>
  /** The session of a link that still works. */
  readonly open: (token: string) => Effect.Effect<Option.Option<Which>>
}>()("messaging-service/channels/whatsapp/sessions/PairingLinks") {
  static readonly layer = Layer.effect(
    PairingLinks,
    Effect.gen(function*() {
      const { console: key } = yield* MacKeys
      const { base } = yield* PublicUrl
      const { console } = yield* AppConfig
      const sessions = yield* Sessions

      // The prefix keeps these MACs apart from those of the console's forms.
      const macOf = (head: string) => shortMac(key, `pairing-link:${head}`, macBytes)

      return PairingLinks.of({
        make: Effect.fn("PairingLinks.make")(function*({ accountId, id }) {
          if (yield* sessions.isPaired({ accountId, id })) return yield* new SessionAlreadyConnected()
          if (console === "off") return yield* new PairingUnavailable({ reason: "console_off" })
          const end = DateTime.add(yield* DateTime.now, lifetime)
          const head = `${accountId}.${id}.${Math.floor(DateTime.toEpochMillis(end) / 1000)}`
          return {
            url: `${base}/console/pair/${head}.${macOf(head).toString("base64url")}`,
            expires_at: fromDateTime(end)
          }
        }),
        open: Effect.fn("PairingLinks.open")(function*(token) {
          // The id of an account in test mode is negative.
          const [, head, accountId, id, end, mac] =
            /^((-?\d{1,16})\.(\d{1,16})\.(\d{1,12}))\.([\w-]{32})$/.exec(token) ??
              []
          if (head === undefined || mac === undefined) return Option.none()
          if (!timingSafeEqual(macOf(head), Buffer.from(mac, "base64url"))) return Option.none()
          const now = DateTime.toEpochMillis(yield* DateTime.now)
          return now < Number(end) * 1000
            ? Option.some({ accountId: AccountId.make(Number(accountId)), id: WhatsAppSessionId.make(Number(id)) })
            : Option.none()
        })
      })
    })
  )
}
