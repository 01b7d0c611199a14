import { Duration, Effect, Layer, Result } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { NodemailerSmtp } from "./NodemailerConnector.ts"
import { parseSmtpUrl } from "./SmtpUrl.ts"

/** The relay at a URL; fails with `WrongSetting` when it is none. */
export const SmtpLayer = (url: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const { heloName: name, smtpConnections: maxConnections, smtpTimeoutSeconds } = yield* AppConfig
    const relay = parseSmtpUrl(url)
    if (Result.isFailure(relay)) {
      return yield* new WrongSetting({
        name: "SMTP_URL",
        expects: "smtp(s)://user:password@host:port",
        value: "********"
      })
    }
    const timeouts = { command: Duration.seconds(smtpTimeoutSeconds) }
    return NodemailerSmtp.layer({ relay: relay.success, name, maxConnections, timeouts })
  }))
