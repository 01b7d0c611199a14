import { Effect } from "effect"
import type { Scope } from "effect"
import { SMTPServer } from "smtp-server"
import type { SMTPServerOptions, SMTPServerSession } from "smtp-server"
import { Changes } from "./Changes.ts"

/** A message that the sink accepted. */
export interface SinkMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly raw: Buffer
}

/** A final dot that the sink has received, and the client's name in EHLO. */
export interface SinkDot {
  readonly to: string
  readonly client: string
}

/**
 * The sink's reaction to one recipient of one message: a reply ("550 5.1.1 no such user") at that point, a disconnect
 * after the final dot (the message counts as accepted), or a delay in milliseconds before the final answer, and if asked
 * for before the answer to RCPT.
 */
export type SinkStep =
  | { readonly at: "rcpt"; readonly reply: string }
  | { readonly at: "message"; readonly reply: string }
  | { readonly at: "afterDot" }
  | { readonly at: "never"; readonly delayMillis: number; readonly rcptMillis?: number }

/** Decides by recipient and number of earlier attempts (0 at first); undefined accepts. */
export type SinkScript = (recipient: string, attempt: number) => SinkStep | undefined

export interface SmtpSinkOptions {
  readonly script?: SinkScript
  readonly server?: SMTPServerOptions
}

export interface SmtpSink {
  readonly port: number
  /** Live lists, which change while the sink runs. */
  readonly messages: ReadonlyArray<SinkMail>
  readonly attempts: ReadonlyMap<string, number>
  readonly deliveries: ReadonlyMap<string, number>
  readonly dots: ReadonlyArray<SinkDot>
  readonly connections: { readonly open: number; readonly total: number }
  readonly until: (predicate: (sink: SmtpSink) => boolean, within?: `${number} seconds`) => Effect.Effect<SmtpSink>
  /** Replaces the script from the next recipient on. */
  readonly play: (script: SinkScript) => Effect.Effect<void>
}

/**
 * The script of journeys and processes, by the start of the local part: `bounce` gets 550 at RCPT, `full` 552 after the
 * dot, `defer2` 450 the first two times; `drop` disconnects after the dot the first time, `slow` answers after 100 to 200 ms.
 */
export const localPartScript: SinkScript = (recipient, attempt) => {
  const [, word, count] = /^(bounce|full|defer|drop|slow)(\d*)/.exec(recipient) ?? []
  if (word === "bounce") return { at: "rcpt", reply: "550 5.1.1 no such user" }
  if (word === "full") return { at: "message", reply: "552 5.2.2 mailbox full" }
  if (word === "defer" && attempt < Number(count || 1)) return { at: "rcpt", reply: "450 4.2.1 try again later" }
  if (word === "drop" && attempt === 0) return { at: "afterDot" }
  return word === "slow" ? { at: "never", delayMillis: 100 + Math.random() * 100 } : undefined
}

const replied = (reply: string) => Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

const bump = (counts: Map<string, number>, key: string) => {
  const before = counts.get(key) ?? 0
  counts.set(key, before + 1)
  return before
}

class Sink implements SmtpSink {
  readonly messages: Array<SinkMail> = []
  readonly attempts = new Map<string, number>()
  readonly deliveries = new Map<string, number>()
  readonly dots: Array<SinkDot> = []
  readonly connections = { open: 0, total: 0 }
  readonly #changes = new Changes(() => ({
    connections: this.connections,
    dots: this.dots.length,
    messages: this.messages.map(({ to }) => to.join()),
    attempts: this.attempts
  }))
  readonly server: SMTPServer
  #script: SinkScript
  readonly #steps = new WeakMap<SMTPServerSession, Array<SinkStep>>()

  constructor(options: SmtpSinkOptions) {
    this.#script = options.script ?? (() => undefined)
    this.server = new SMTPServer({
      disabledCommands: ["STARTTLS", "AUTH"],
      disableReverseLookup: true,
      logger: false,
      closeTimeout: 1,
      maxAllowedUnauthenticatedCommands: false,
      onConnect: (_session, done) => this.#change(() => this.#connected(1), done),
      onClose: () => this.#change(() => this.#connected(-1)),
      onRcptTo: ({ address }, session, done) => this.#recipient(address, session, done),
      onData: (stream, session, done) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () => this.#take(session, Buffer.concat(chunks), done))
      },
      ...options.server
    })
    this.server.on("error", () => {})
  }

  get port() {
    const address = this.server.server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }

  readonly until = (predicate: (sink: SmtpSink) => boolean, within?: `${number} seconds`) =>
    Effect.as(this.#changes.until(() => predicate(this), within), this)

  readonly play = (script: SinkScript) =>
    Effect.sync(() => {
      this.#script = script
    })

  #change(change: () => void, done?: () => void) {
    change()
    done?.()
    this.#changes.notify()
  }

  #connected(change: 1 | -1) {
    this.connections.open += change
    if (change === 1) this.connections.total++
  }

  #recipient(address: string, session: SMTPServerSession, done: (error?: Error | null) => void) {
    const step = this.#script(address, bump(this.attempts, address))
    this.#changes.notify()
    if (step?.at === "rcpt") return done(replied(step.reply))
    // A new transaction starts with its first recipient.
    const steps = session.envelope.rcptTo.length === 0 ? [] : this.#steps.get(session) ?? []
    if (step !== undefined) steps.push(step)
    this.#steps.set(session, steps)
    const delay = step?.at === "never" ? step.rcptMillis ?? 0 : 0
    if (delay === 0) done()
    else setTimeout(done, delay)
  }

  #take(session: SMTPServerSession, raw: Buffer, done: (error?: Error | null, text?: string) => void) {
    for (const { address } of session.envelope.rcptTo) {
      this.dots.push({ to: address, client: session.hostNameAppearsAs || "" })
    }
    this.#changes.notify()
    const steps = this.#steps.get(session) ?? []
    const refused = steps.find((step) => step.at === "message")
    if (refused !== undefined) return done(replied(refused.reply))
    const hangUp = steps.some((step) => step.at === "afterDot")
    const delay = Math.max(0, ...steps.map((step) => step.at === "never" ? step.delayMillis : 0))
    const finish = () =>
      this.#change(() => {
        const { mailFrom, rcptTo } = session.envelope
        const to = rcptTo.map(({ address }) => address)
        this.messages.push({ from: mailFrom ? mailFrom.address : "", to, raw })
        for (const address of to) bump(this.deliveries, address)
        if (hangUp) this.#hangUp(session)
        else done(null, `2.0.0 queued as ${this.messages.length}`)
      })
    if (delay === 0) finish()
    else setTimeout(finish, delay)
  }

  #hangUp(session: SMTPServerSession) {
    for (const connection of this.server.connections) {
      if (connection.id === session.id) connection._socket.destroy()
    }
  }
}

/** Starts a real SMTP server on the loopback interface that records everything; it ends with the scope. */
export const make = (options: SmtpSinkOptions = {}): Effect.Effect<SmtpSink, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Sink>((resume) => {
      const sink = new Sink(options)
      sink.server.once("error", (error) => resume(Effect.die(error)))
      sink.server.listen(0, "127.0.0.1", () => resume(Effect.succeed(sink)))
    }),
    (sink) =>
      Effect.callback<void>((resume) => {
        sink.server.close(() => resume(Effect.void))
      })
  )
