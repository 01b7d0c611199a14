import { Context, Effect, Layer, Option } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { type Upstreams, upstreams } from "../../platform/config/Upstreams.ts"
import { Database } from "../../platform/database/Database.ts"
import type { Mode } from "../../values/TestMode.ts"
import type { SmsLink } from "./parts/SmsLink.ts"
import { SmsOutlet } from "./parts/SmsOutlet.ts"

/** Where the texts of accounts go. */
export class SmsLinks extends Context.Service<SmsLinks, {
  /** The provider of a mode, with its link. None without one, and while the node that keeps it does not answer. */
  readonly of: (mode: Mode) => Effect.Effect<{
    readonly provider: Upstreams["smsProvider"]
    readonly link: Option.Option<SmsLink>
  }>
}>()("messaging-service/channels/sms/SmsLinks") {
  static readonly layer = Layer.effect(
    SmsLinks,
    Effect.gen(function*() {
      const config = yield* AppConfig
      const { link } = yield* SmsOutlet
      const { waitWithoutConnection } = yield* Database
      return SmsLinks.of({
        of: Effect.fn("SmsLinks.of")(function*(mode) {
          const { smsProvider } = yield* Effect.orDie(Effect.provideService(upstreams, AppConfig, config))
          const provider = mode === "test" ? "sandbox" : smsProvider
          return { provider, link: provider === "smpp" ? yield* waitWithoutConnection(link) : Option.none() }
        })
      })
    })
  )
}
