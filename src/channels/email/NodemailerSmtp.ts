import { Clock, Duration, Effect, Exit, Layer, Redacted } from "effect"
import SMTPConnection from "nodemailer/lib/smtp-connection"
import { makeDeadlines } from "../../platform/net/Deadlines.ts"
import { MessageBody } from "./MessageBody.ts"
import { parseEhlo } from "./parseEhlo.ts"
import { parseReply, printableLine } from "./parseReply.ts"
import type { RelayAddress } from "./parseSmtpUrl.ts"
import { clientRefusals, connectFailure, sendFailure } from "./relayFailure.ts"
import type { EngineError } from "./relayFailure.ts"
import { Smtp } from "./Smtp.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown } from "./SmtpErrors.ts"
import type { RecipientRefused, RelayUnavailable, SendFailure } from "./SmtpErrors.ts"
import { SmtpPool } from "./SmtpPool.ts"
import type { SmtpPoolOptions } from "./SmtpPool.ts"
import type { SmtpSession } from "./SmtpSession.ts"

/** Timeouts of one conversation; they run on the machine's clock, being those of a socket. */
export interface SmtpTimeouts {
  /** DNS, TCP and TLS together. */
  readonly connect: Duration.Duration
  readonly greeting: Duration.Duration
  /** Silence after any command. */
  readonly command: Duration.Duration
  /** Silence after the final dot: too short makes duplicates, so it is what RFC 5321 4.5.3.2.6 asks for. */
  readonly finalReply: Duration.Duration
  /** RSET and QUIT, where nothing is at stake. */
  readonly courtesy: Duration.Duration
}

/** However slowly a relay speaks: the timeouts are of silence, which a byte now and then would break for ever. */
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
type Peer = Pick<NodemailerSmtpOptions, "relay" | "name"> & {
  readonly timeouts: SmtpTimeouts
  /** Calls back after `longest`, unless what it returns was called before. */
  readonly withinLongest: (expire: () => void) => () => void
}

type Done<A> = (error: EngineError | null | undefined, value?: A) => void

/** One engine connection with its failures in one place: the engine tells some by callback and some by event. */
class NodemailerSession implements SmtpSession {
  capabilities: SmtpCapabilities = { extensions: [], authMethods: [], maxSize: undefined, tls: false }
  readonly #connection: SMTPConnection
  readonly #timeouts: SmtpTimeouts
  readonly #relay: RelayAddress
  readonly #withinLongest: Peer["withinLongest"]
  #broken = false
  #onFailure: ((error: EngineError) => void) | undefined

  constructor({ name, relay, timeouts, withinLongest }: Peer) {
    this.#relay = relay
    this.#withinLongest = withinLongest
    this.#timeouts = timeouts
    this.#connection = new SMTPConnection({ ...engineOptions(relay, timeouts), ...(name !== undefined && { name }) })
    this.#connection.on("error", (error: EngineError) => this.#onFailure?.(error))
    // Some endings come without an error, and "end" may come before the callback that says why: callback first.
    this.#connection.once(
      "end",
      () => setImmediate(() => this.#onFailure?.({ code: "ECONNECTION", message: "connection closed" }))
    )
  }

  readonly open: Effect.Effect<SmtpSession, RelayUnavailable> = Effect.gen({ self: this }, function*() {
    yield* this.#step((done) => this.#connection.connect(done))
    const greeting = this.#connection.lastServerResponse
    this.capabilities = parseEhlo(greeting === false ? "" : greeting, this.#connection.secure)
    if (this.#relay.credentials !== undefined) yield* this.#login(this.#relay.credentials)
    this.#silence(0)
    return this
  }).pipe(
    Effect.timeoutOrElse({ duration: longest, orElse: () => Effect.fail(tooSlow) }),
    Effect.mapError(connectFailure),
    Effect.onError(() => Effect.sync(() => this.close()))
  )

  readonly usable = (): boolean => {
    const socket = this.#connection._socket
    return !this.#broken && !this.#connection.destroyed && !!socket && socket.writable
  }

  readonly close = (): void => {
    this.#broken = true
    this.#connection.close()
  }

  readonly send = (mail: SmtpMail): Effect.Effect<Accepted, SendFailure> =>
    Effect.suspend(() => {
      const refused = refusalOf(mail, this.capabilities)
      if (refused !== undefined) return Effect.fail(refused)
      const body = new MessageBody(
        mail.message,
        this.#connection._socket || undefined,
        () => this.#silence(Duration.toMillis(this.#timeouts.finalReply))
      )
      this.#silence(Duration.toMillis(this.#timeouts.command))
      return Effect.callback<Accepted, SendFailure>((resume) => {
        const inTime = this.#withinLongest(() => this.#onFailure?.(tooSlow))
        const finish = (exit: Exit.Exit<Accepted, SendFailure>) => {
          inTime()
          this.#onFailure = undefined
          this.#afterSend(exit, body)
          resume(exit)
        }
        this.#onFailure = (error) => finish(Exit.fail(sendFailure(error, body)))
        this.#connection.send(engineEnvelope(mail), body, (error, info) =>
          finish(error ? Exit.fail(sendFailure(error, body)) : acceptance(info?.response ?? "", body)))
        return Effect.sync(() => {
          inTime()
          this.close()
        })
      })
    })

  readonly reset: Effect.Effect<void> = Effect.suspend(() => {
    this.#silence(Duration.toMillis(this.#timeouts.courtesy))
    return this.#step((done) => this.#connection.reset(done))
  }).pipe(
    Effect.match({ onFailure: () => this.close(), onSuccess: () => this.#silence(0) }),
    Effect.onInterrupt(() => Effect.sync(this.close))
  )

  readonly quit: Effect.Effect<void> = Effect.suspend(() => {
    this.#silence(Duration.toMillis(this.#timeouts.courtesy))
    // The engine closes by itself once QUIT is answered, and that is reported as an ending.
    return this.#step(() => this.#connection.quit())
  }).pipe(Effect.ignore, Effect.ensuring(Effect.sync(this.close)))

  #login(credentials: NonNullable<RelayAddress["credentials"]>): Effect.Effect<void, EngineError> {
    if (!this.#connection.allowsAuth) {
      return Effect.fail({ code: "EAUTH", message: "the relay offers no authentication, but a user is configured" })
    }
    const { password, user } = credentials
    return this.#step((done) => this.#connection.login({ credentials: { user, pass: Redacted.value(password) } }, done))
  }

  #step(run: (done: Done<unknown>) => void): Effect.Effect<void, EngineError> {
    return Effect.callback((resume) => {
      const finish = (effect: Effect.Effect<void, EngineError>) => {
        this.#onFailure = undefined
        resume(effect)
      }
      this.#onFailure = (error) => finish(Effect.fail(error))
      run((error) => finish(error ? Effect.fail(error) : Effect.void))
      return Effect.sync(this.close)
    })
  }

  // A relay that answers before it has read the body, or off the protocol, is out of step with us for good.
  #afterSend(exit: Exit.Exit<Accepted, SendFailure>, body: MessageBody): void {
    const failure = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
    const refused = failure?._tag === "Fail" && failure.error._tag === "RecipientRefused"
    if ((failure !== undefined && !refused) || (body.started && !body.ended)) return this.close()
    this.#silence(0)
  }

  #silence(millis: number): void {
    const socket = this.#connection._socket
    if (socket) socket.setTimeout(millis)
  }
}

const engineOptions = (relay: RelayAddress, timeouts: SmtpTimeouts): SMTPConnection.Options => ({
  host: relay.host,
  port: relay.port,
  secure: relay.tls === "implicit",
  requireTLS: relay.tls === "required",
  ignoreTLS: relay.tls === "never",
  connectionTimeout: Duration.toMillis(timeouts.connect),
  greetingTimeout: Duration.toMillis(timeouts.greeting),
  socketTimeout: Duration.toMillis(timeouts.command),
  // Closing must drop what is still buffered: a half-sent message that trickles out after an interruption could end
  // in a delivery nobody knows of.
  socketCloseTimeout: 0,
  maxResponseSize: 64 * 1024,
  tls: { rejectUnauthorized: relay.verifyCertificate }
})

const engineEnvelope = ({ envelope: { dsn, from, to }, message }: SmtpMail): SMTPConnection.Envelope => ({
  from,
  to,
  size: message.length,
  ...(dsn === undefined ? {} : { dsn: { ...dsn, notify: dsn.notify.join(","), orcpt: `rfc822;${dsn.orcpt}` } })
})

// oxlint-disable-next-line no-control-regex
const breaksCommand = /[\u0000-\u0020<>\u007f]/
// oxlint-disable-next-line no-control-regex
const notAscii = /[^\u0000-\u007f]/

const refusalOf = ({ envelope, message }: SmtpMail, offered: SmtpCapabilities): RecipientRefused | undefined => {
  if (envelope.to === "" || breaksCommand.test(envelope.to) || breaksCommand.test(envelope.from)) {
    return clientRefusals.badAddress()
  }
  if (notAscii.test(envelope.to + envelope.from) && !offered.extensions.includes("SMTPUTF8")) {
    return clientRefusals.notAscii()
  }
  if (offered.maxSize !== undefined && message.length > offered.maxSize) {
    return clientRefusals.tooLarge(offered.maxSize)
  }
  return undefined
}

// The engine takes anything that begins with a 2, even ahead of the final dot.
const acceptance = (response: string, body: MessageBody): Exit.Exit<Accepted, OutcomeUnknown> => {
  const reply = parseReply(response)
  if (reply !== undefined && body.ended) return Exit.succeed({ response: reply.response })
  const reason = body.ended ? "not an SMTP reply" : "answered before the message was complete"
  return Exit.fail(new OutcomeUnknown({ reason: printableLine(`${reason}: ${response}`) }))
}

const connectTo = (peer: Peer): Effect.Effect<SmtpSession, RelayUnavailable> =>
  Effect.suspend(() => new NodemailerSession(peer).open)

/**
 * The relay over nodemailer's SMTP engine. The layer connects to nothing; when its scope ends, messages in flight get
 * the close timeout to finish.
 */
const layer = (options: NodemailerSmtpOptions): Layer.Layer<Smtp> =>
  Layer.effect(
    Smtp,
    Effect.gen(function*() {
      const withinLongest = yield* makeDeadlines(yield* Clock.Clock, longest)
      const connect = connectTo({ ...options, timeouts: { ...timeoutDefaults, ...options.timeouts }, withinLongest })
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
