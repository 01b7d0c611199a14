import { Effect, Layer, Redacted } from "effect"
import { EmailLayer } from "../channels/email/EmailLayer.ts"
import { SmtpLayer } from "../channels/email/SmtpLayer.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { SandboxMailLayer } from "../sandbox/mail/SandboxMailLayer.ts"
import { SandboxMailServer } from "../sandbox/mail/SandboxMailServer.ts"

/** The operator's relay, or the sandbox's own SMTP server with its inbox. */
const Relay = Layer.unwrap(Effect.map(AppConfig, ({ smtpUrl }) =>
  smtpUrl === undefined
    ? Layer.unwrap(Effect.map(SandboxMailServer, ({ port }) => SmtpLayer(`smtp://127.0.0.1:${port}?tls=never`))).pipe(
      Layer.provideMerge(SandboxMailLayer)
    )
    : SmtpLayer(Redacted.value(smtpUrl).href)))

/** Every channel with its upstream. A new channel is one line here. */
export const Channels = EmailLayer.pipe(Layer.provide(Relay))
