/**
 * Takes mail to our own addresses by SMTP: bounces, confirmations of delivery, complaints, and wishes to get no more.
 *
 * Who talks to it: mail servers, by the MX of the bounce domain. It takes only addresses with a MAC of ours and `fbl@`,
 * says 250 when what the mail means is committed, and never sends anything itself, so it answers no forged sender. Mail
 * that it cannot take now, as the database is away, gets 4xx: its sender keeps it and comes again, perhaps to another
 * node. It holds nothing between two conversations.
 */
import { Cause, Context, Effect, Fiber, FiberMap, FiberSet, Layer, Option, Schema, Semaphore } from "effect"
import { SMTPServer } from "smtp-server"
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from "smtp-server"
import { bounceSettings } from "./bounceSettings.ts"
import { type Certificate, listenerCertificate, renewed } from "./listenerCertificate.ts"
import { ReportIntake } from "./ReportIntake.ts"
import { ReturnPaths } from "./ReturnPaths.ts"

/** Ten megabytes, as a report may come with the whole message that it is about. */
const largest = 10 * 1024 * 1024

/** What counts stands before the original message, so the rest is not kept: this bounds the memory of all clients. */
const kept = 1024 * 1024

/** Connections at once, and of one address. */
const mostClients = 50
const mostOfOne = 20

/** Reports that are read and written at once, so that a flood of them leaves the database to others. */
const width = 4

/** A sender waits some minutes for the answer to its final dot (RFC 5321 4.5.3.2.6); a database that is away, longer. */
const patience = "10 seconds"

/** However slowly somebody speaks. */
const longestConversation = "5 minutes"

/** The address of the listener is taken, or is none of this machine. */
class BounceListenFailed extends Schema.TaggedError<BounceListenFailed>()("BounceListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen for bounces on ${this.host}:${this.port} (${this.reason}). Set BOUNCE_HOST and BOUNCE_PORT to an address that is free.`
  }
}

const reply = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

/** The whole message is read, its first part kept; undefined when it broke off or is too large. */
const read = (stream: SMTPServerDataStream) =>
  Effect.callback<Buffer | undefined>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    stream.on("data", (chunk: Buffer) => {
      if (size < kept) chunks.push(chunk.subarray(0, kept - size))
      size += chunk.length
    })
    stream.on("end", () => resume(Effect.succeed(stream.sizeExceeded ? undefined : Buffer.concat(chunks))))
    stream.on("error", () => {})
    stream.on("close", () => resume(Effect.undefined))
  })

const makeReceive = Effect.gen(function*() {
  const paths = yield* ReturnPaths
  const intake = yield* ReportIntake
  const slots = yield* Semaphore.make(width)
  const later = reply(451, "4.3.0 Cannot take it now, please try again later")
  const taken = (raw: Buffer, { envelope }: SMTPServerSession) => {
    const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address
    const to = envelope.rcptTo.flatMap(({ address }) => Option.toArray(paths.read(address)))
    return Effect.as(slots.withPermit(intake.take({ from, to, raw })), undefined)
  }
  /** The refusal, or undefined when what the mail means is committed. */
  return Effect.fn("BounceListener.receive")(function*(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const raw = yield* read(stream)
    // Nobody waits for an answer, or the server itself gives it, for the size.
    if (raw === undefined) return later
    // A statement that hangs in silence is left where it is, with its slot: taking it back waits for the database too.
    // What it commits after all is known already when its sender comes again.
    const fiber = yield* Effect.forkDetach(taken(raw, session))
    return yield* Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(later) }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("a report could not be taken and comes again", Cause.squash(cause)), later)
      )
    )
  })
})

const limits: SMTPServerOptions = {
  size: largest,
  rejectOversized: true,
  maxClients: mostClients,
  maxRecipients: 10,
  maxCommandLength: 2_048,
  socketTimeout: 60_000,
  closeTimeout: 2_000,
  disableReverseLookup: true,
  logger: false
}

/** Ends conversations that take too long, and refuses a client that has too many at once. */
const makeDoor = Effect.gen(function*() {
  const conversations = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(conversations)<never>()
  const clients = new Map<string, string>()
  const admit = (server: SMTPServer, { id, remoteAddress }: SMTPServerSession): Error | null => {
    const hangUp = () => {
      for (const connection of server.connections) if (connection.id === id) connection.close()
    }
    run(id, Effect.andThen(Effect.sleep(longestConversation), Effect.sync(hangUp)))
    clients.set(id, remoteAddress)
    const ofThisOne = [...clients.values()].filter((address) => address === remoteAddress).length
    return ofThisOne > mostOfOne ? reply(421, "4.7.0 Too many connections from you") : null
  }
  const leave = ({ id }: SMTPServerSession) => {
    clients.delete(id)
    run(id, Effect.void)
  }
  return { admit, leave }
})

const makeServer = Effect.fnUntraced(function*(certificate: Certificate | undefined) {
  const paths = yield* ReturnPaths
  const receive = yield* makeReceive
  const door = yield* makeDoor
  const run = yield* FiberSet.makeRuntime<never>()
  const server: SMTPServer = new SMTPServer({
    ...limits,
    ...certificate,
    disabledCommands: certificate === undefined ? ["AUTH", "STARTTLS"] : ["AUTH"],
    name: paths.domain ?? "localhost",
    banner: "reports about mail only",
    onConnect: (session, done) => done(door.admit(server, session)),
    onClose: door.leave,
    onRcptTo: ({ address }, _session, done) =>
      done(Option.isSome(paths.read(address)) ? null : reply(550, "5.1.1 No such address here")),
    onData: (stream, session, done) => {
      run(
        Effect.map(
          receive(stream, session),
          (refused) => refused === undefined ? done(null, "2.0.0 Noted") : done(refused)
        )
      )
    }
  })
  return server
})

const listen = (server: SMTPServer, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<number, BounceListenFailed>((resume) => {
    server.once(
      "error",
      (error: NodeJS.ErrnoException) =>
        resume(Effect.fail(new BounceListenFailed({ host, port, reason: error.code ?? "refused" })))
    )
    server.listen(port, host, () => {
      // From here on errors are those of single connections, which end by themselves.
      server.on("error", () => {})
      const address = server.server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** The listener of this node, where BOUNCE_PORT is set or the sandbox is the relay. */
export class BounceListener extends Context.Service<BounceListener, {
  /** Host and port, as a URL has them; nothing where this node takes no reports. */
  readonly address: string | undefined
}>()("messaging-service/channels/email/reports/BounceListener") {
  /** It ends with the scope, after the mail under way. */
  static readonly layer = Layer.effect(
    BounceListener,
    Effect.gen(function*() {
      const { domain, host, port: wanted } = yield* bounceSettings
      if (wanted === undefined) return BounceListener.of({ address: undefined })
      const certificate = yield* listenerCertificate
      const server = yield* makeServer(certificate)
      const port = yield* Effect.acquireRelease(
        listen(server, { host, port: wanted }),
        () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
      )
      if (certificate !== undefined) {
        yield* Effect.forkScoped(renewed(certificate, (next) => server.updateSecureContext(next)))
      }
      yield* Effect.logInfo(`bounces and complaints for ${domain} are taken on ${host}:${port}`)
      return BounceListener.of({ address: `${host.includes(":") ? `[${host}]` : host}:${port}` })
    })
  )
}
