import { Context, Effect, Layer, type Option } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { readTrackingToken, type Tracked, trackingTokens } from "./TrackingToken.ts"

/** The addresses by which opens and clicks are told: `/t/o/{token}.gif` and `/t/c/{token}`. They never expire. */
export class TrackingLinks extends Context.Service<TrackingLinks, {
  /** Of a message's pixel, and of as many of its links as its mail has targets. */
  readonly urlsOf: (
    id: EmailMessageId,
    targets: number
  ) => { readonly open: string; readonly clicks: ReadonlyArray<string> }
  /** What a pixel's token names, if it is one of ours. */
  readonly readOpen: (token: string) => Option.Option<Tracked>
  /** What a link's token names, if it is one of ours. */
  readonly readClick: (token: string) => Option.Option<Tracked>
}>()("messaging-service/channels/email/tracking/TrackingLinks") {
  static readonly layer = Layer.effect(
    TrackingLinks,
    Effect.gen(function*() {
      const { tracking: key } = yield* MacKeys
      const { base } = yield* PublicUrl
      return TrackingLinks.of({
        urlsOf: (id, targets) => {
          const tokenOf = trackingTokens(key, id)
          return {
            open: `${base}/t/o/${tokenOf("open", 0)}.gif`,
            clicks: Array.from({ length: targets }, (_, link) => `${base}/t/c/${tokenOf("click", link)}`)
          }
        },
        readOpen: (token) => readTrackingToken(key, "open", token),
        readClick: (token) => readTrackingToken(key, "click", token)
      })
    })
  )
}
