/**
 * Receives mail to our addresses over SMTP: bounces, delivery confirmations, complaints and unsubscribe requests.
 *
 * Callers: mail servers, through the MX of the bounce domain. It accepts only addresses with our MAC, and `fbl@`. It never
 * sends mail, so it answers no forged sender.
 * State: none between two connections.
 * Idempotence: it replies 250 after the commit. While the database is unavailable it replies 4xx, so the sender retries,
 * perhaps at another node. The same report again changes nothing.
 */
import { Cause, Context, Effect, Fiber, FiberMap, FiberSet, Layer, Option, Semaphore } from "effect"
import { SMTPServer } from "smtp-server"
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from "smtp-server"
import { type ListenFailed, listenFailed, mustBeFree, placeOf } from "../../../platform/net/Listening.ts"
import { networkOf } from "../../../values/IpAddress.ts"
import { type Certificate, listenerCertificate, watchCertificate } from "./listenerCertificate.ts"
import { ReportIntake } from "./ReportIntake.ts"
import { bounceSettings, ReturnPaths } from "./ReturnPaths.ts"

/** Ten megabytes: a report may contain the whole message that it is about. */
const maxMailBytes = 10 * 1024 * 1024

/** The report comes before the original message, so the rest is not kept. This bounds the memory of all clients. */
const maxKeptBytes = 1024 * 1024

/** Connections at once, in total and from one client network. */
const maxConnections = 50
const maxConnectionsPerNetwork = 20

/** Reports processed at once, so that a flood of them does not occupy the database. */
const concurrencyLimit = 4

/** A sender awaits the reply to its final dot for some minutes (RFC 5321 4.5.3.2.6); a database outage may be longer. */
const commitTimeout = "10 seconds"

/** Ends a connection however slowly its client sends. */
const maxConnectionTime = "5 minutes"

/** Where reports arrive. */
const bouncePlace = (address: { readonly host: string; readonly port: number }) =>
  placeOf({ host: "BOUNCE_HOST", port: "BOUNCE_PORT" }, address)

/** Fails if BOUNCE_PORT or its domain is wrong, or if this process cannot listen there. */
export const checkBounceSettings = Effect.gen(function*() {
  const { host, port } = yield* bounceSettings
  if (port !== undefined) yield* mustBeFree(bouncePlace({ host, port }))
})

const reply = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })

/** Reads the whole message and keeps its first part; undefined if it is truncated or too large. */
const read = (stream: SMTPServerDataStream) =>
  Effect.callback<Buffer | undefined>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    stream.on("data", (chunk: Buffer) => {
      if (size < maxKeptBytes) chunks.push(chunk.subarray(0, maxKeptBytes - size))
      size += chunk.length
    })
    stream.on("end", () => resume(Effect.succeed(stream.sizeExceeded ? undefined : Buffer.concat(chunks))))
    stream.on("error", () => {})
    stream.on("close", () => resume(Effect.undefined))
  })

const receiver = Effect.gen(function*() {
  const paths = yield* ReturnPaths
  const intake = yield* ReportIntake
  const slots = yield* Semaphore.make(concurrencyLimit)
  const later = reply(451, "4.3.0 Temporarily unable to accept the message, please try again later")
  const process = (raw: Buffer, { envelope }: SMTPServerSession) => {
    const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address
    const to = envelope.rcptTo.flatMap(({ address }) => Option.toArray(paths.read(address)))
    return Effect.ensuring(intake.take({ from, to, raw }), slots.release(1))
  }
  /** Returns the refusal, or undefined after the commit. */
  return Effect.fn("BounceListener.receive")(function*(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const raw = yield* read(stream)
    // The client is gone, or the server itself refuses the size.
    if (raw === undefined) return later
    // A mail that gets no slot is not kept. A hanging statement keeps running with its slot, because interrupting it would
    // wait for the database too. If it still commits, the sender's retry changes nothing.
    return yield* Effect.uninterruptibleMask((restore) =>
      restore(slots.take(1)).pipe(
        Effect.andThen(Effect.forkDetach(process(raw, session))),
        Effect.flatMap((fiber) => restore(Fiber.join(fiber)))
      )
    ).pipe(
      Effect.as(undefined),
      Effect.timeoutOrElse({ duration: commitTimeout, orElse: () => Effect.succeed(later) }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("processing a mail report failed, the sender retries", Cause.squash(cause)), later)
      )
    )
  })
})

const serverOptions: SMTPServerOptions = {
  size: maxMailBytes,
  rejectOversized: true,
  maxClients: maxConnections,
  maxRecipients: 10,
  maxCommandLength: 2_048,
  socketTimeout: 60_000,
  closeTimeout: 2_000,
  disableReverseLookup: true,
  logger: false
}

/** Closes connections that last too long, and refuses a client network with too many. */
export const connectionLimits = Effect.gen(function*() {
  const connections = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(connections)<never>()
  const clients = new Map<string, string>()
  const admit = (
    server: Pick<SMTPServer, "connections">,
    { id, remoteAddress }: Pick<SMTPServerSession, "id" | "remoteAddress">
  ): Error | null => {
    const disconnect = () => {
      for (const connection of server.connections) if (connection.id === id) connection.close()
    }
    run(id, Effect.andThen(Effect.sleep(maxConnectionTime), Effect.sync(disconnect)))
    const network = networkOf(remoteAddress)
    clients.set(id, network)
    const fromSameNetwork = [...clients.values()].filter((other) => other === network).length
    return fromSameNetwork > maxConnectionsPerNetwork ? reply(421, "4.7.0 Too many connections from you") : null
  }
  const forget = ({ id }: SMTPServerSession) => {
    clients.delete(id)
    run(id, Effect.void)
  }
  return { admit, forget }
})

const smtpServer = Effect.fnUntraced(function*(certificate: Certificate | undefined) {
  const paths = yield* ReturnPaths
  const receive = yield* receiver
  const limits = yield* connectionLimits
  const run = yield* FiberSet.makeRuntime<never>()
  const server: SMTPServer = new SMTPServer({
    ...serverOptions,
    ...certificate,
    disabledCommands: certificate === undefined ? ["AUTH", "STARTTLS"] : ["AUTH"],
    name: paths.domain ?? "localhost",
    banner: "reports about mail only",
    onConnect: (session, done) => done(limits.admit(server, session)),
    onClose: limits.forget,
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
  Effect.callback<number, ListenFailed>((resume) => {
    server.once("error", (error) => resume(listenFailed(bouncePlace({ host, port }), error)))
    server.listen(port, host, () => {
      // Later errors belong to single connections, which end by themselves.
      server.on("error", () => {})
      const address = server.server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** The listener of this node, if BOUNCE_PORT is set or the sandbox is the relay. */
export class BounceListener extends Context.Service<BounceListener, {
  /** Host and port in the form of a URL; undefined if this node receives no reports. */
  readonly address: string | undefined
}>()("messaging-service/channels/email/reports/BounceListener") {
  /** It closes with the scope, after the mail in flight. */
  static readonly layer = Layer.effect(
    BounceListener,
    Effect.gen(function*() {
      const { domain, host, port: wanted } = yield* bounceSettings
      if (wanted === undefined) return BounceListener.of({ address: undefined })
      const certificate = yield* listenerCertificate
      const server = yield* smtpServer(certificate)
      const port = yield* Effect.acquireRelease(
        listen(server, { host, port: wanted }),
        () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
      )
      if (certificate !== undefined) {
        yield* Effect.forkScoped(watchCertificate(certificate, (next) => server.updateSecureContext(next)))
      }
      yield* Effect.logDebug(`listening for bounces and complaints for ${domain} on ${host}:${port}`)
      return BounceListener.of({ address: `${host.includes(":") ? `[${host}]` : host}:${port}` })
    })
  )
}
