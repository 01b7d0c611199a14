import { type Clock, Duration, Effect, Redacted } from "effect"
import type { Socket } from "node:net"
import type SMTPConnection from "nodemailer/lib/smtp-connection"
import * as Deadlines from "../../../platform/net/Deadlines.ts"
import { failureOfConnect } from "./relayFailure.ts"
import type { EngineError } from "./relayFailure.ts"
import type { RelayAddress } from "./Smtp.ts"
import { SmtpConversation } from "./SmtpConversation.ts"
import type { OpenConnection, SilenceTimeouts } from "./SmtpConversation.ts"
import type { RelayUnavailable } from "./SmtpErrors.ts"
import { parseEhlo } from "./SmtpReply.ts"

/** Timeouts while a connection opens, and while it is used. */
export interface SmtpTimeouts extends SilenceTimeouts {
  /** DNS, TCP and TLS together. */
  readonly connect: Duration.Duration
  readonly greeting: Duration.Duration
  /** RSET and QUIT, whose replies decide about no message. */
  readonly cleanup: Duration.Duration
}

/** The relay, and how this node talks to it. */
export interface ConnectorOptions {
  readonly relay: RelayAddress
  readonly name: string | undefined
  readonly timeouts: SmtpTimeouts
  readonly clock: Clock.Clock
}

/** A node that has sent no mail does without its memory. */
const library = Effect.runSync(Effect.cached(Effect.promise(() => import("nodemailer/lib/smtp-connection"))))

/** Upper bound for opening a connection, and for one mail transaction. */
const maxDuration = Duration.minutes(20)

const tooSlow: EngineError = { code: "ETIMEDOUT", message: "the conversation took longer than 20 minutes" }

// The engine reports some failures by callback, some by an event, and a closed connection without an error.
const runStep = (connection: SMTPConnection, run: (done: (error?: EngineError | null) => void) => void) =>
  Effect.callback<void, EngineError>((resume) => {
    const fail = (error: EngineError) => resume(Effect.fail(error))
    // The event may come before the callback that has the reason.
    const ended = () => setImmediate(fail, { code: "ECONNECTION", message: "connection closed" })
    connection.on("error", fail).on("end", ended)
    run((error) => resume(error ? Effect.fail(error) : Effect.void))
  })

const login = (connection: SMTPConnection, { password, user }: NonNullable<RelayAddress["credentials"]>) =>
  connection.allowsAuth
    ? runStep(connection, (done) => connection.login({ credentials: { user, pass: Redacted.value(password) } }, done))
    : Effect.fail({ code: "EAUTH", message: "the relay offers no authentication, but a user is configured" })

/** Takes the socket from the engine, which from then on only cleans up when the socket closes. */
const takeSocket = (connection: SMTPConnection): Effect.Effect<Socket, EngineError> =>
  Effect.suspend(() => {
    const socket = connection._socket
    if (!socket) return Effect.fail({ message: "connection closed" })
    socket.removeAllListeners("data").removeAllListeners("timeout")
    return Effect.succeed(socket)
  })

const engineOptions = ({ name, relay, timeouts }: ConnectorOptions): SMTPConnection.Options => ({
  ...(name !== undefined && { name }),
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

const connectWith = (
  options: ConnectorOptions,
  deadlines: OpenConnection["deadlines"]
): Effect.Effect<SmtpConversation, RelayUnavailable> =>
  Effect.flatMap(library, ({ default: Connection }) => {
    const { relay, timeouts } = options
    const connection = new Connection(engineOptions(options))
    return Effect.gen(function*() {
      yield* runStep(connection, (done) => connection.connect(done))
      const greeting = connection.lastServerResponse
      const capabilities = parseEhlo(greeting === false ? "" : greeting, connection.secure)
      if (relay.credentials !== undefined) yield* login(connection, relay.credentials)
      const socket = yield* takeSocket(connection)
      return new SmtpConversation({ socket, capabilities, timeouts, deadlines })
    }).pipe(
      Effect.timeoutOrElse({ duration: maxDuration, orElse: () => Effect.fail(tooSlow) }),
      Effect.mapError(failureOfConnect),
      Effect.onError(() => Effect.sync(() => connection.close()))
    )
  })

/**
 * A connector to one relay. `connect` opens one connection with nodemailer's SMTP engine: TCP, greeting, EHLO, STARTTLS
 * and login. Messages then pass through {@link SmtpConversation} alone.
 */
export const make = Effect.fnUntraced(function*(options: ConnectorOptions) {
  const deadlines = {
    transaction: yield* Deadlines.make(options.clock, maxDuration),
    cleanup: yield* Deadlines.make(options.clock, options.timeouts.cleanup)
  }
  return { connect: connectWith(options, deadlines) }
})
