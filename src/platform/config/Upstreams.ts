import { Effect, Record, type Redacted, Schema } from "effect"
import { AppConfig } from "./AppConfig.ts"

/** In production a channel has no upstream, and the operator has not chosen the sandbox for it. */
class UpstreamMissing extends Schema.TaggedError<UpstreamMissing>()("UpstreamMissing", {
  settings: Schema.Array(Schema.String),
  modeReason: Schema.String
}) {
  override get message() {
    const names = this.settings.join(", ").replace(/, (?=[^,]*$)/, " and ")
    const [is, each] = this.settings.length === 1 ? ["is", "it"] : ["are", "each"]
    return `${names} ${is} required in production (${this.modeReason}). Set ${each} to the service that delivers the messages, or to sandbox to deliver none.`
  }
}

/** Where the messages of each channel go. */
export interface Upstreams {
  readonly smtpUrl: Redacted.Redacted<URL> | "sandbox"
  readonly smsProvider: "smpp" | "http" | "sandbox"
  readonly whatsappUrl: Redacted.Redacted<URL> | "live" | "sandbox"
}

type Config = AppConfig["Service"]

/** The upstream of one channel. Fails if it is missing. */
export const upstreamOf = Effect.fnUntraced(function*<A>(name: string, pick: (config: Config) => A | undefined) {
  const config = yield* AppConfig
  return pick(config) ?? (yield* new UpstreamMissing({ settings: [name], modeReason: config.modeReason }))
})

/** The upstreams of all channels. Fails if any is missing, so that a channel drops messages only where that was chosen. */
export const upstreams = Effect.gen(function*() {
  const { modeReason, smsProvider, smtpUrl, whatsappUrl } = yield* AppConfig
  if (smtpUrl !== undefined && smsProvider !== undefined && whatsappUrl !== undefined) {
    return { smtpUrl, smsProvider, whatsappUrl } satisfies Upstreams
  }
  const written = { SMTP_URL: smtpUrl, SMS_PROVIDER: smsProvider, WHATSAPP_URL: whatsappUrl }
  const settings = Record.keys(Record.filter(written, (value) => value === undefined))
  return yield* new UpstreamMissing({ settings, modeReason })
})
