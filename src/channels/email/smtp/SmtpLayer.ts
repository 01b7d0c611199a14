/**
 * Builds the `Smtp` service. The path of one message:
 * `Smtp.send` -> `SmtpPool` (circuit breaker, lanes, connections) -> `SmtpConversation` (one connection)
 * -> `mailTransaction` (MAIL, RCPT, DATA) -> `SmtpReply`.
 * `NodemailerConnector` only opens connections; no message passes through it.
 */
import { Clock, Duration, Effect, Layer, Result } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import * as NodemailerConnector from "./NodemailerConnector.ts"
import type { SmtpTimeouts } from "./NodemailerConnector.ts"
import { Smtp } from "./Smtp.ts"
import type { RelayAddress } from "./Smtp.ts"
import { SmtpPool } from "./SmtpPool.ts"
import type { SmtpPoolOptions } from "./SmtpPool.ts"
import { parseSmtpUrl } from "./SmtpUrl.ts"

/** Options of the relay; everything but the address has a default. */
export interface SmtpOptions extends Partial<SmtpPoolOptions> {
  readonly relay: RelayAddress
  /** The name in EHLO. Default: this machine's host name, or `[127.0.0.1]` if that is not a full host name. */
  readonly name?: string | undefined
  readonly timeouts?: Partial<SmtpTimeouts>
}

const poolDefaults: SmtpPoolOptions = {
  maxConnections: 5,
  reservedForSingle: 1,
  messagesPerConnection: 100,
  idleTimeout: Duration.minutes(3),
  drainTimeout: Duration.seconds(10),
  reducedLimitTime: Duration.minutes(1)
}

const timeoutDefaults: SmtpTimeouts = {
  connect: Duration.seconds(10),
  greeting: Duration.seconds(10),
  command: Duration.seconds(60),
  finalReply: Duration.minutes(10),
  cleanup: Duration.seconds(2)
}

/**
 * A pool of connections to one relay, opened when mail is sent. When the layer's scope closes, messages in flight get
 * the drain timeout to finish.
 */
const make = (options: SmtpOptions): Layer.Layer<Smtp> =>
  Layer.effect(
    Smtp,
    Effect.gen(function*() {
      const timeouts = { ...timeoutDefaults, ...options.timeouts }
      const { connect } = yield* NodemailerConnector.make({
        relay: options.relay,
        name: options.name,
        timeouts,
        clock: yield* Clock.Clock
      })
      const pool = yield* SmtpPool.make(connect, { ...poolDefaults, ...options })
      const verify = Effect.flatMap(connect, (opened) => Effect.as(opened.quit, opened.capabilities))
      return Smtp.of({
        send: pool.send,
        admission: pool.admission,
        paused: pool.paused,
        verify,
        capabilities: Effect.suspend(() => pool.capabilities === undefined ? verify : Effect.succeed(pool.capabilities))
      })
    })
  )

/** The relay at a URL, with the operator's settings; fails with `WrongSetting` when the URL is invalid. */
const fromUrl = (url: string) =>
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
    return make({ relay: relay.success, name, maxConnections, timeouts })
  }))

/** Layers of `Smtp`. */
export const SmtpLayer = { make, fromUrl } as const
