import { Context, Effect, Layer, type Option } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { readTrackingToken, type Tracked, trackingTokens } from "./TrackingToken.ts"

/** The URLs that record opens and clicks: `/t/o/{token}.gif` and `/t/c/{token}`. They never expire. */
export class TrackingLinks extends Context.Service<TrackingLinks, {
  /** Returns the URLs of a message's pixel and of its `targets` links. */
  readonly urlsOf: (
    id: EmailMessageId,
    targets: number
  ) => { readonly open: string; readonly clicks: ReadonlyArray<string> }
  /** Reads a valid token of a pixel. */
  readonly readOpen: (token: string) => Option.Option<Tracked>
  /** Reads a valid token of a link. */
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
