import { Deferred, Duration, Effect, FiberSet, Option, Result, Schedule, Schema, type Scope } from "effect"
import * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import { attemptTimeoutMillis } from "../../../platform/net/guardedConnector.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import type { OutgoingPart } from "../parts/SmsProvider.ts"
import type { SmppAddress } from "./SmppCarrier.ts"
import { bindBody, type Delivered, readDeliver, readSubmitResponse, submitBody } from "./smppMessages.ts"
import { commands, encodePdu, isResponse, type Pdu, readPdus, responseTo } from "./SmppPdu.ts"

/** The carrier is unreachable or refuses the bind. */
class SmppUnavailable extends Schema.TaggedError<SmppUnavailable>()("SmppUnavailable", {
  reason: Schema.String
}) {
  override get message() {
    return `The carrier is unavailable: ${this.reason}.`
  }
}

/** The result of a submit. */
export type SubmitResult =
  | { readonly _tag: "Answered"; readonly status: number; readonly id: string | undefined }
  /** The request was sent, and no response came before the timeout or the end of the connection. */
  | { readonly _tag: "Unconfirmed"; readonly reason: string }
  /** The request was not sent. */
  | { readonly _tag: "NotSent" }

export interface SessionOptions {
  readonly address: SmppAddress
  readonly systemType: string
  /** Handles a deliver_sm. The carrier gets its response when this ends, and repeats the request when this fails. */
  readonly onDeliver: (delivered: Delivered) => Effect.Effect<void>
}

const responseTimeout = Duration.seconds(10)
const enquireInterval = Duration.seconds(30)
const connectTimeout = Duration.seconds(10)

/** The most incoming requests in flight; beyond that the socket is not read. */
const maxIncoming = 500

const connectionLost = { _tag: "Unconfirmed", reason: "the connection was lost" } as const
const timedOut = { _tag: "Unconfirmed", reason: "no answer within 10 seconds" } as const

/** ESME_RINVCMDID, ESME_RX_T_APPN. */
const statuses = { invalidCommand: 0x03, tryAgain: 0x64 } as const

const emptyBody = new Uint8Array()

/** The response to a request; undefined when the connection was lost. */
type Reply = Pdu | undefined

/** One connection: its PDUs, sequence numbers and pending requests. It never throws, whatever the carrier sends. */
class Connection {
  readonly #socket: NodeNet.Socket
  readonly #pending = new Map<number, (reply: Reply) => void>()
  #rest: Buffer = Buffer.alloc(0)
  #sequence = 0
  #reason: string | undefined
  onRequest: (pdu: Pdu) => void = () => {}
  onClose: (reason: string) => void = () => {}

  constructor(socket: NodeNet.Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on("data", (chunk: Buffer) => this.#read(chunk))
    socket.on("error", (error) => this.close(error.message))
    socket.on("close", () => this.close("the carrier closed the connection"))
  }

  /** Why the connection closed; undefined while it is open. */
  get reason(): string | undefined {
    return this.#reason
  }

  get isOpen(): boolean {
    return this.#reason === undefined && this.#socket.writable
  }

  /** Sends a request; returns its sequence number, by which `forget` drops it. */
  request(command: number, body: Uint8Array, onReply: (reply: Reply) => void): number {
    this.#sequence = this.#sequence >= 0x7fff_ffff ? 1 : this.#sequence + 1
    this.#pending.set(this.#sequence, onReply)
    this.#socket.write(encodePdu({ command, status: 0, sequence: this.#sequence, body }))
    return this.#sequence
  }

  forget(sequence: number): void {
    this.#pending.delete(sequence)
  }

  respond({ command, sequence }: Pdu, status: number): void {
    const unknown = status === statuses.invalidCommand
    const body = command === commands.deliverSm ? Uint8Array.of(0) : emptyBody
    if (!this.isOpen) return
    const response = unknown ? commands.genericNack : responseTo(command)
    this.#socket.write(encodePdu({ command: response, status, sequence, body }))
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  close(reason: string): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#socket.destroy()
    const waiting = [...this.#pending.values()]
    this.#pending.clear()
    for (const onReply of waiting) onReply(undefined)
    this.onClose(reason)
  }

  #read(chunk: Buffer): void {
    const read = readPdus(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]))
    if (Result.isFailure(read)) return this.close(read.failure)
    this.#rest = read.success.rest
    for (const pdu of read.success.pdus) {
      if (isResponse(pdu)) this.#settle(pdu)
      else this.onRequest(pdu)
    }
  }

  /** Ignores a response without a pending request. */
  #settle(pdu: Pdu): void {
    const onReply = this.#pending.get(pdu.sequence)
    this.#pending.delete(pdu.sequence)
    onReply?.(pdu)
  }
}

const connect = ({ host, port, tls }: SmppAddress): Effect.Effect<Connection, SmppUnavailable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Connection, SmppUnavailable>((resume) => {
      const target = { host, port, autoSelectFamilyAttemptTimeout: attemptTimeoutMillis }
      const socket = tls
        ? NodeTls.connect({ ...target, ...(NodeNet.isIP(host) === 0 && { servername: host }) })
        : NodeNet.connect(target)
      socket.once(tls ? "secureConnect" : "connect", () => {
        socket.removeAllListeners("error")
        resume(Effect.succeed(new Connection(socket)))
      })
      socket.once("error", ({ message }) => resume(Effect.fail(new SmppUnavailable({ reason: message }))))
      return Effect.sync(() => socket.destroy())
    }).pipe(
      Effect.timeoutOrElse({
        duration: connectTimeout,
        orElse: () => Effect.fail(new SmppUnavailable({ reason: "no connection within 10 seconds" }))
      })
    ),
    (connection) => Effect.sync(() => connection.close("the bind was closed"))
  )

/**
 * Sends a request and waits for its response. The outer Option is `None` after the timeout, the inner one after a lost
 * connection.
 */
const ask = (connection: Connection, command: number, body: Uint8Array) =>
  Effect.callback<Option.Option<Pdu>>((resume) => {
    const sequence = connection.request(command, body, (reply) => resume(Effect.succeed(Option.fromUndefinedOr(reply))))
    return Effect.sync(() => connection.forget(sequence))
  }).pipe(Effect.timeoutOption(responseTimeout))

/** Responds to the carrier's requests; to a deliver_sm only once its receipt is stored. */
const serve = Effect.fnUntraced(function*(connection: Connection, { onDeliver }: SessionOptions) {
  const run = yield* FiberSet.makeRuntime<never>()
  let incoming = 0
  const deliver = (pdu: Pdu) => {
    const delivered = readDeliver(pdu.body)
    if (delivered === undefined) return connection.respond(pdu, 0)
    incoming++
    if (incoming >= maxIncoming) connection.pause(true)
    run(
      Effect.matchCause(onDeliver(delivered), {
        onSuccess: () => connection.respond(pdu, 0),
        onFailure: () => connection.respond(pdu, statuses.tryAgain)
      }).pipe(Effect.ensuring(Effect.sync(() => {
        incoming--
        if (incoming === maxIncoming - 1) connection.pause(false)
      })))
    )
  }
  connection.onRequest = (pdu) => {
    if (pdu.command === commands.deliverSm) return deliver(pdu)
    const isKnown = pdu.command === commands.enquireLink || pdu.command === commands.unbind
    connection.respond(pdu, isKnown ? 0 : statuses.invalidCommand)
    if (pdu.command === commands.unbind) connection.close("the carrier ended the bind")
  }
})

/** Binds on a new socket, and unbinds when the scope closes. `closed` gets the reason of the first bind that ends. */
const bind = Effect.fnUntraced(function*(command: number, options: SessionOptions, closed: Deferred.Deferred<string>) {
  const { address, systemType } = options
  const connection = yield* connect(address)
  connection.onClose = (reason) => Deferred.doneUnsafe(closed, Effect.succeed(reason))
  yield* serve(connection, options)
  const reply = Option.flatten(yield* ask(connection, command, bindBody({ ...address, systemType })))
  if (Option.isNone(reply)) {
    return yield* new SmppUnavailable({ reason: connection.reason ?? "the bind was not answered" })
  }
  const { command: answer, status } = reply.value
  if (answer !== responseTo(command) || status !== 0) {
    return yield* new SmppUnavailable({ reason: `the bind was refused with status 0x${status.toString(16)}` })
  }
  yield* Effect.addFinalizer(() =>
    connection.isOpen
      ? Effect.asVoid(Effect.timeoutOption(ask(connection, commands.unbind, emptyBody), "1 second"))
      : Effect.void
  )
  const enquire = Effect.gen(function*() {
    const reply = Option.flatten(yield* ask(connection, commands.enquireLink, emptyBody))
    if (Option.isNone(reply)) connection.close("enquire_link was not answered")
  })
  yield* Effect.forkScoped(Effect.schedule(enquire, Schedule.spaced(enquireInterval)))
  return connection
})

/**
 * Binds as transceiver, or as a pair of receiver and transmitter, and keeps the binds until the scope closes or a connection
 * is lost. A pair lives and ends as one. A socket is never reused, because late responses on it belong to the earlier bind.
 */
export const open = Effect.fnUntraced(function*(options: SessionOptions) {
  const closed = yield* Deferred.make<string>()
  const { isPair } = options.address
  // First, because the receipt of a submit may come at once.
  if (isPair) yield* bind(commands.bindReceiver, options, closed)
  const connection = yield* bind(isPair ? commands.bindTransmitter : commands.bindTransceiver, options, closed)

  return {
    /** Ends with the reason when a bind ends. */
    closed: Deferred.await(closed),
    /** Submits nothing more. The connection stays open for the answers in flight, until the scope closes. */
    end: (reason: string) => Deferred.succeed(closed, reason),
    /** Interrupts itself when the lease is lost. */
    submit: Effect.fnUntraced(function*(part: OutgoingPart, lease: Lease): Effect.fn.Return<SubmitResult> {
      if (!connection.isOpen || Deferred.isDoneUnsafe(closed)) return { _tag: "NotSent" }
      const pdu = submitBody(part)
      const reply = yield* Effect.suspend(() =>
        lease.begin() ? ask(connection, commands.submitSm, pdu) : Effect.interrupt
      )
      if (Option.isNone(reply)) return timedOut
      if (Option.isNone(reply.value)) return connectionLost
      const { body, status } = reply.value.value
      return { _tag: "Answered", status, id: readSubmitResponse(body) }
    })
  }
})
