import { Effect, Redacted } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { type Upstreams, upstreams } from "../../platform/config/Upstreams.ts"

/** Where the messages of each channel go; undefined for the sandbox. */
export const destinations = (
  { smsProvider, smtpUrl, whatsappUrl }: Upstreams
): Readonly<Record<string, string | undefined>> => ({
  email: smtpUrl === "sandbox" ? undefined : `the relay ${Redacted.value(smtpUrl).host}`,
  SMS: smsProvider === "sandbox" ? undefined : `the provider (${smsProvider})`,
  WhatsApp: whatsappUrl === "sandbox"
    ? undefined
    : whatsappUrl === "live"
    ? "WhatsApp"
    : `the server ${Redacted.value(whatsappUrl).host}`
})

/** Logs the mode, and one line per channel: where its messages go. A sandbox in production is a warning. */
export const logUpstreams = Effect.gen(function*() {
  const { mode, modeReason } = yield* AppConfig
  const targets = destinations(yield* upstreams)
  yield* Effect.logInfo(`mode is ${mode}, because ${modeReason}`)
  const log = mode === "production" ? Effect.logWarning : Effect.logInfo
  for (const [channel, target] of Object.entries(targets)) {
    yield* target === undefined
      ? log(`${channel} goes to the sandbox and reaches no recipient`)
      : Effect.logInfo(`${channel} goes to ${target}`)
  }
})
