import { Context, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../config/AppConfig.ts"

/** `PUBLIC_URL` without a trailing slash; empty if it is not set. */
export const publicBase = ({ publicUrl }: Pick<AppConfig["Service"], "publicUrl">): string =>
  publicUrl === undefined ? "" : Redacted.value(publicUrl).href.replace(/\/+$/, "")

/** The address at which people reach this service, for links in mail and printed examples. No trailing slash. */
export class PublicUrl extends Context.Service<PublicUrl, {
  readonly base: string
  /** The address of this node itself, behind any proxy. */
  readonly local: string
}>()("messaging-service/platform/http/PublicUrl") {
  /** Built from the settings; `port` is the port that the HTTP server listens on. */
  static readonly layer = (port: number) =>
    Layer.effect(
      PublicUrl,
      Effect.map(AppConfig, ({ host, publicUrl }) => {
        const shown = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host
        const local = `http://${shown}:${port}`
        return PublicUrl.of({ base: publicBase({ publicUrl }) || local, local })
      })
    )
}
