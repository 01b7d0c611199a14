import { Context, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../config/AppConfig.ts"

/** Where people reach this service: the base of links in mail and of the printed examples, without a final slash. */
export class PublicUrl extends Context.Service<PublicUrl, {
  readonly base: string
  /** Where this node itself listens, whatever stands in front of it. */
  readonly local: string
}>()("messaging-service/platform/http/PublicUrl") {
  /** From the settings; `port` is the one that HTTP got. */
  static readonly layer = (port: number) =>
    Layer.effect(
      PublicUrl,
      Effect.map(AppConfig, ({ host, publicUrl }) => {
        const shown = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host
        const local = `http://${shown}:${port}`
        const base = publicUrl === undefined ? local : Redacted.value(publicUrl).href.replace(/\/+$/, "")
        return PublicUrl.of({ base, local })
      })
    )
}
