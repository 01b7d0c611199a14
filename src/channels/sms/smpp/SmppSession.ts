import { Deferred, Duration, Effect, FiberSet, Option, Result, Schedule, Schema, type Scope } from "effect"
import * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import type { Outgoing } from "../parts/SubmitOutcome.ts"
import type { SmppAddress } from "./parseSmppUrl.ts"
import { bindBody, type Delivered, readDeliver, readSubmitAnswer, submitBody } from "./smppMessages.ts"
import { answerTo, commands, encodePdu, isAnswer, type Pdu, readPdus } from "./SmppPdu.ts"

/** There is no bind: nobody listens, or the carrier says no. */
export class SmppUnavailable extends Schema.TaggedError<SmppUnavailable>()("SmppUnavailable", {
  reason: Schema.String
}) {
  override get message() {
    return `The carrier cannot be used: ${this.reason}.`
  }
}

/** What came back for a submit. */
export type SubmitAnswer =
  | { readonly _tag: "Answered"; readonly status: number; readonly id: string | undefined }
  /** It went out, and nothing came back in time, or the connection was lost. */
  | { readonly _tag: "Unanswered"; readonly reason: string }
  /** It never went out. */
  | { readonly _tag: "NotSent" }

export interface SessionOptions {
  readonly address: SmppAddress
  readonly systemType: string
  /** Told of what comes in; the carrier gets its answer when this ends, and tries again when this fails. */
  readonly onDeliver: (delivered: Delivered) => Effect.Effect<void>
}

/** Silence after a request: longer than any carrier thinks, shorter than a person waits. */
const responseTime = Duration.seconds(10)
const enquirePause = Duration.seconds(30)
const connectTime = Duration.seconds(10)

/** Incoming requests that may be under way; past them nothing more is read. */
const mostIncoming = 500

const lost = { _tag: "Unanswered", reason: "the connection was lost" } as const
const silent = { _tag: "Unanswered", reason: "no answer within 10 seconds" } as const

/** ESME_RINVCMDID, ESME_RX_T_APPN. */
const statuses = { invalidCommand: 0x03, tryAgain: 0x64 } as const

const nothing = new Uint8Array()

type Reply = Pdu | undefined

/** One connection: frames, sequence numbers and pending requests. It never throws, whatever the peer sends. */
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

  /** Why it is no more; undefined while it is. */
  get reason(): string | undefined {
    return this.#reason
  }

  get isOpen(): boolean {
    return this.#reason === undefined && this.#socket.writable
  }

  /** Sends a request and gives its sequence number, by which it can be forgotten. */
  request(command: number, body: Uint8Array, onReply: (reply: Reply) => void): number {
    this.#sequence = this.#sequence >= 0x7fff_ffff ? 1 : this.#sequence + 1
    this.#pending.set(this.#sequence, onReply)
    this.#socket.write(encodePdu({ command, status: 0, sequence: this.#sequence, body }))
    return this.#sequence
  }

  forget(sequence: number): void {
    this.#pending.delete(sequence)
  }

  answer({ command, sequence }: Pdu, status: number): void {
    const unknown = status === statuses.invalidCommand
    const body = command === commands.deliverSm ? Uint8Array.of(0) : nothing
    if (!this.isOpen) return
    const answered = unknown ? commands.genericNack : answerTo(command)
    this.#socket.write(encodePdu({ command: answered, status, sequence, body }))
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
      if (isAnswer(pdu)) this.#settle(pdu)
      else this.onRequest(pdu)
    }
  }

  /** An answer to nothing that was asked is nobody's. */
  #settle(pdu: Pdu): void {
    const onReply = this.#pending.get(pdu.sequence)
    this.#pending.delete(pdu.sequence)
    onReply?.(pdu)
  }
}

const connect = ({ host, port, tls }: SmppAddress): Effect.Effect<Connection, SmppUnavailable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Connection, SmppUnavailable>((resume) => {
      const socket = tls
        ? NodeTls.connect({ host, port, ...(NodeNet.isIP(host) === 0 && { servername: host }) })
        : NodeNet.connect({ host, port })
      socket.once(tls ? "secureConnect" : "connect", () => {
        socket.removeAllListeners("error")
        resume(Effect.succeed(new Connection(socket)))
      })
      socket.once("error", ({ message }) => resume(Effect.fail(new SmppUnavailable({ reason: message }))))
      return Effect.sync(() => socket.destroy())
    }).pipe(
      Effect.timeoutOrElse({
        duration: connectTime,
        orElse: () => Effect.fail(new SmppUnavailable({ reason: "no connection within 10 seconds" }))
      })
    ),
    (connection) => Effect.sync(() => connection.close("the link was closed"))
  )

/** The reply to a request; none when the connection is lost meanwhile or time runs out. */
const ask = (connection: Connection, command: number, body: Uint8Array) =>
  Effect.callback<Option.Option<Pdu>>((resume) => {
    const sequence = connection.request(command, body, (reply) => resume(Effect.succeed(Option.fromUndefinedOr(reply))))
    return Effect.sync(() => connection.forget(sequence))
  }).pipe(Effect.timeoutOption(responseTime))

/** Answers what the carrier asks; what it delivers, once that is written down. */
const serve = Effect.fnUntraced(function*(connection: Connection, { onDeliver }: SessionOptions) {
  const run = yield* FiberSet.makeRuntime<never>()
  let incoming = 0
  const deliver = (pdu: Pdu) => {
    const delivered = readDeliver(pdu.body)
    if (delivered === undefined) return connection.answer(pdu, 0)
    incoming++
    if (incoming >= mostIncoming) connection.pause(true)
    run(
      Effect.matchCause(onDeliver(delivered), {
        onSuccess: () => connection.answer(pdu, 0),
        onFailure: () => connection.answer(pdu, statuses.tryAgain)
      }).pipe(Effect.ensuring(Effect.sync(() => {
        incoming--
        if (incoming === mostIncoming - 1) connection.pause(false)
      })))
    )
  }
  connection.onRequest = (pdu) => {
    if (pdu.command === commands.deliverSm) return deliver(pdu)
    const isKnown = pdu.command === commands.enquireLink || pdu.command === commands.unbind
    connection.answer(pdu, isKnown ? 0 : statuses.invalidCommand)
    if (pdu.command === commands.unbind) connection.close("the carrier ended the bind")
  }
})

const bind = Effect.fnUntraced(function*(connection: Connection, { address, systemType }: SessionOptions) {
  const body = bindBody({ ...address, systemType })
  const reply = Option.flatten(yield* ask(connection, commands.bindTransceiver, body))
  if (Option.isNone(reply)) {
    return yield* new SmppUnavailable({ reason: connection.reason ?? "the bind was not answered" })
  }
  const { command, status } = reply.value
  if (command === answerTo(commands.bindTransceiver) && status === 0) return
  return yield* new SmppUnavailable({ reason: `the bind was refused with status 0x${status.toString(16)}` })
})

/**
 * Binds as transceiver on a new socket, and keeps the bind alive until its scope is closed or the carrier is gone. An old
 * socket is never used again: what it still had to say belongs to another bind.
 */
export const openSmppSession = Effect.fnUntraced(function*(options: SessionOptions) {
  const connection = yield* connect(options.address)
  const closed = yield* Deferred.make<string>()
  connection.onClose = (reason) => Deferred.doneUnsafe(closed, Effect.succeed(reason))
  yield* serve(connection, options)
  yield* bind(connection, options)
  yield* Effect.addFinalizer(() =>
    connection.isOpen
      ? Effect.asVoid(Effect.timeoutOption(ask(connection, commands.unbind, nothing), "1 second"))
      : Effect.void
  )
  const enquire = Effect.gen(function*() {
    const reply = Option.flatten(yield* ask(connection, commands.enquireLink, nothing))
    if (Option.isNone(reply)) connection.close("enquire_link was not answered")
  })
  yield* Effect.forkScoped(Effect.schedule(enquire, Schedule.spaced(enquirePause)))

  return {
    /** Ends when the bind is gone, with the reason. */
    closed: Deferred.await(closed),
    submit: Effect.fnUntraced(function*(part: Outgoing): Effect.fn.Return<SubmitAnswer> {
      if (!connection.isOpen) return { _tag: "NotSent" }
      const reply = yield* ask(connection, commands.submitSm, submitBody(part))
      if (Option.isNone(reply)) return silent
      if (Option.isNone(reply.value)) return lost
      const { body, status } = reply.value.value
      return { _tag: "Answered", status, id: readSubmitAnswer(body) }
    })
  }
})
