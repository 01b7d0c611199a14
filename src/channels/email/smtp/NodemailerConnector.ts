import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import type { Socket } from "node:net"
import SMTPConnection from "nodemailer/lib/smtp-connection"
import { makeDeadlines } from "../../../platform/net/Deadlines.ts"
import { parseEhlo } from "./parseEhlo.ts"
import { connectFailure } from "./relayFailure.ts"
import type { EngineError } from "./relayFailure.ts"
import { Smtp } from "./Smtp.ts"
import { SmtpConversation } from "./SmtpConversation.ts"
import type { OpenConnection, SilenceTimeouts } from "./SmtpConversation.ts"
import type { RelayUnavailable } from "./SmtpErrors.ts"
import { SmtpPool } from "./SmtpPool.ts"
import type { SmtpPoolOptions } from "./SmtpPool.ts"
import type { SmtpSession } from "./SmtpSession.ts"
import type { RelayAddress } from "./SmtpUrl.ts"

/** Timeouts on the way to a conversation, and in it. */
export interface SmtpTimeouts extends SilenceTimeouts {
  /** DNS, TCP and TLS together. */
  readonly connect: Duration.Duration
  readonly greeting: Duration.Duration
  /** RSET and QUIT, where nothing is at stake. */
  readonly courtesy: Duration.Duration
}

/** Of connecting as well as of a transaction. */
const longest = Duration.minutes(20)

const tooSlow: EngineError = { code: "ETIMEDOUT", message: "the conversation took longer than 20 minutes" }

/** Settings of the relay connection; everything but the address has a default. */
export interface NodemailerSmtpOptions extends Partial<SmtpPoolOptions> {
  readonly relay: RelayAddress
  /** What we call ourselves in EHLO; without one, this machine's host name, or `[127.0.0.1]` where that is no full one. */
  readonly name?: string | undefined
  readonly timeouts?: Partial<SmtpTimeouts>
}

const poolDefaults: SmtpPoolOptions = {
  maxConnections: 5,
  reservedForSingle: 1,
  messagesPerConnection: 100,
  idleTimeout: Duration.minutes(3),
  pauses: { first: 1_000, longest: 30_000 },
  closeTimeout: Duration.seconds(10),
  shrinkTime: Duration.minutes(1)
}

const timeoutDefaults: SmtpTimeouts = {
  connect: Duration.seconds(10),
  greeting: Duration.seconds(10),
  command: Duration.seconds(60),
  finalReply: Duration.minutes(10),
  courtesy: Duration.seconds(2)
}

/** The relay, and how we speak with it. */
type Peer = Pick<NodemailerSmtpOptions, "relay" | "name"> & Pick<OpenConnection, "within"> & {
  readonly timeouts: SmtpTimeouts
}

/** Runs a step of the engine, which tells some failures by callback, some by an event, and an ending without an error. */
const step = (connection: SMTPConnection, run: (done: (error?: EngineError | null) => void) => void) =>
  Effect.callback<void, EngineError>((resume) => {
    const fail = (error: EngineError) => resume(Effect.fail(error))
    // The ending may come before the callback that says why.
    const ended = () => setImmediate(fail, { code: "ECONNECTION", message: "connection closed" })
    connection.on("error", fail).on("end", ended)
    run((error) => resume(error ? Effect.fail(error) : Effect.void))
  })

const login = (connection: SMTPConnection, { password, user }: NonNullable<RelayAddress["credentials"]>) =>
  connection.allowsAuth
    ? step(connection, (done) => connection.login({ credentials: { user, pass: Redacted.value(password) } }, done))
    : Effect.fail({ code: "EAUTH", message: "the relay offers no authentication, but a user is configured" })

/** From here on the engine only tidies up when the socket closes. */
const takeSocket = (connection: SMTPConnection): Effect.Effect<Socket, EngineError> =>
  Effect.suspend(() => {
    const socket = connection._socket
    if (!socket) return Effect.fail({ message: "connection closed" })
    socket.removeAllListeners("data").removeAllListeners("timeout")
    return Effect.succeed(socket)
  })

const converse = ({ name, relay, timeouts, within }: Peer): Effect.Effect<SmtpSession, RelayUnavailable> =>
  Effect.suspend(() => {
    const connection = new SMTPConnection({ ...engineOptions(relay, timeouts), ...(name !== undefined && { name }) })
    return Effect.gen(function*() {
      yield* step(connection, (done) => connection.connect(done))
      const greeting = connection.lastServerResponse
      const capabilities = parseEhlo(greeting === false ? "" : greeting, connection.secure)
      if (relay.credentials !== undefined) yield* login(connection, relay.credentials)
      const socket = yield* takeSocket(connection)
      return new SmtpConversation({ socket, capabilities, timeouts, within })
    }).pipe(
      Effect.timeoutOrElse({ duration: longest, orElse: () => Effect.fail(tooSlow) }),
      Effect.mapError(connectFailure),
      Effect.onError(() => Effect.sync(() => connection.close()))
    )
  })

const engineOptions = (relay: RelayAddress, timeouts: SmtpTimeouts): SMTPConnection.Options => ({
  host: relay.host,
  port: relay.port,
  secure: relay.tls === "implicit",
  requireTLS: relay.tls === "required",
  ignoreTLS: relay.tls === "never",
  connectionTimeout: Duration.toMillis(timeouts.connect),
  greetingTimeout: Duration.toMillis(timeouts.greeting),
  socketTimeout: Duration.toMillis(timeouts.command),
  socketCloseTimeout: 0,
  maxResponseSize: 64 * 1024,
  tls: { rejectUnauthorized: relay.verifyCertificate }
})

/**
 * The relay, to which nodemailer's SMTP engine connects when there is mail. When the layer's scope ends, messages in flight
 * get the close timeout to finish.
 */
const layer = (options: NodemailerSmtpOptions): Layer.Layer<Smtp> =>
  Layer.effect(
    Smtp,
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const timeouts = { ...timeoutDefaults, ...options.timeouts }
      const within = {
        longest: yield* makeDeadlines(clock, longest),
        courtesy: yield* makeDeadlines(clock, timeouts.courtesy)
      }
      const connect = converse({ ...options, timeouts, within })
      const pool = yield* SmtpPool.make(connect, { ...poolDefaults, ...options })
      const verify = Effect.flatMap(connect, (session) => Effect.as(session.quit, session.capabilities))
      return Smtp.of({
        send: pool.send,
        admission: pool.admission,
        verify,
        capabilities: Effect.suspend(() => pool.capabilities === undefined ? verify : Effect.succeed(pool.capabilities))
      })
    })
  )

/** Adapter of the `Smtp` port. */
export const NodemailerSmtp = { layer } as const
