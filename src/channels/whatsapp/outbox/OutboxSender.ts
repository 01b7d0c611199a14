import { Cause, Clock, Effect, Queue, Random } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { type CodeSeed, fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { OutboundPart } from "../socket/MessageTraffic.ts"
import type { SocketFailed } from "../socket/SocketErrors.ts"
import type { SendingSocket } from "../socket/WhatsAppSocket.ts"
import * as MessageComposer from "./MessageComposer.ts"
import { type MessageFailure, notAcknowledged, refusedByServer, unreachable } from "./MessageFailures.ts"
import { makeOutboxRepo, type QueuedMessage, type WrittenMessage } from "./OutboxRepo.ts"
import { OutboxSenders } from "./OutboxSenders.ts"
import { receiptStatus, type ReportedStatus } from "./OutboxState.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"
import { historySize, waitFor } from "./SendRate.ts"

/** Messages that may wait for their acknowledgement at once. */
const window = 100

/** Messages that are made ready together where there is no pause between them. Nothing is begun while there is less room. */
const page = 50

/** Files that a session brings to WhatsApp at once. */
const uploads = 3

/** After so long without an acknowledgement a message goes into the same connection again. */
const ackPatience = 30_000

/** How often a message is tried. */
const mostAttempts = 5

/** A message in the connection. */
interface InFlight {
  readonly message: WrittenMessage
  readonly at: number
}

const newWritten = (row: QueuedMessage, { body, chat }: { readonly body: Uint8Array; readonly chat: string }) => ({
  message_id: row.message_id,
  whatsapp_id: row.whatsapp_id,
  attempt_count: 1,
  chat,
  body,
  code_seed: row.code_seed
})

/**
 * Sends the messages of sessions, each over its connection: written down first, then written into the line, and sent once
 * the server says so. What a connection leaves unacknowledged goes into the next one under the same name, before all
 * else, whichever node has that.
 */
export const makeOutboxSender = Effect.gen(function*() {
  const { whatsappPauseLeast, whatsappPauseMost, whatsappPerDay, whatsappPerMinute } = yield* AppConfig
  const pace = { perMinute: whatsappPerMinute, perDay: whatsappPerDay }
  const isPaced = pace.perDay > 0 || pace.perMinute > 0 || whatsappPauseMost > 0
  const clock = yield* Clock.Clock
  const { verify: codeKey } = yield* MacKeys
  const repo = yield* makeOutboxRepo
  const updates = yield* OutboxStatusUpdates
  const senders = yield* OutboxSenders
  const composer = yield* MessageComposer.make

  /** A code stands in its text from the moment on that it is sent, and nowhere before. */
  const keptOf = ({ body, code_seed }: { readonly body: Uint8Array; readonly code_seed: CodeSeed | null }) => ({
    body,
    fillIn: code_seed === null ? undefined : (text: string) => fillIn(codeKey, code_seed, text)
  })

  const attach: OutboundPart["attach"] = Effect.fnUntraced(function*(owned: OwnedSession) {
    const sessionId = owned.id
    const inFlight = new Map<string, InFlight>()
    const moments: Array<number> = []
    const woken = yield* Queue.sliding<void>(1)
    const filesWoken = yield* Queue.sliding<void>(1)
    let gap = Math.min(whatsappPauseLeast, whatsappPauseMost)

    const wake = () => void Queue.offerUnsafe(woken, undefined)
    yield* senders.enter(sessionId, (hasFiles) => {
      wake()
      if (hasFiles) Queue.offerUnsafe(filesWoken, undefined)
    })
    const updateOf = (whatsappId: string, status: ReportedStatus, error?: MessageFailure) => ({
      sessionId,
      whatsappId,
      status,
      ...(error !== undefined && { error })
    })
    const fail = (whatsappId: string, error: MessageFailure) => updates.write([updateOf(whatsappId, "failed", error)])

    const relay = Effect.fnUntraced(function*(socket: SendingSocket, messages: ReadonlyArray<WrittenMessage>) {
      const note = (ids: ReadonlyArray<WrittenMessage>) => {
        const at = clock.currentTimeMillisUnsafe()
        for (const message of ids) inFlight.set(message.whatsapp_id, { message, at })
      }
      note(messages)
      const failed = yield* socket.relay(
        messages.map((message) => ({ chat: message.chat, id: message.whatsapp_id, ...keptOf(message) }))
      )
      // Their patience begins when the last of them is in the line.
      note(messages.filter(({ whatsapp_id }) => inFlight.has(whatsapp_id)))
      // Without an acknowledgement one goes again: into this connection later, or into the next one.
      for (const { id, reason } of failed) {
        yield* Effect.annotateLogs(Effect.logDebug(`a WhatsApp message did not get into the line: ${reason}`), { id })
      }
    })

    /** False when this is not the owner any more, or all of them have failed meanwhile. */
    const write = Effect.fnUntraced(function*(socket: SendingSocket, messages: ReadonlyArray<WrittenMessage>) {
      if (messages.length === 0) return true
      const held = yield* retryWhileUnavailable(Effect.orDie(repo.write(owned, messages)))
      const ids = new Set(held.map(({ message_id }) => message_id))
      for (const { message_id, whatsapp_id } of messages) if (!ids.has(message_id)) inFlight.delete(whatsapp_id)
      if (ids.size > 0) yield* relay(socket, messages.filter(({ message_id }) => ids.has(message_id)))
      return ids.size > 0
    })

    const again = Effect.fnUntraced(function*(socket: SendingSocket, messages: ReadonlyArray<WrittenMessage>) {
      const isSpent = ({ attempt_count }: WrittenMessage) => attempt_count >= mostAttempts
      for (const { whatsapp_id } of messages.filter(isSpent)) {
        inFlight.delete(whatsapp_id)
        yield* fail(whatsapp_id, notAcknowledged)
      }
      const left = messages.filter((message) => !isSpent(message))
      yield* write(socket, left.map((message) => ({ ...message, attempt_count: message.attempt_count + 1 })))
    })

    const overdue = () => {
      const now = clock.currentTimeMillisUnsafe()
      return [...inFlight.values()].filter(({ at }) => at + ackPatience <= now).map(({ message }) => message)
    }

    const failedToPrepare = (row: QueuedMessage) => (error: MessageComposer.NotSendable | SocketFailed) => {
      if (error._tag === "NotSendable") return fail(row.whatsapp_id, error)
      if (row.attempt_count + 1 >= mostAttempts) return fail(row.whatsapp_id, unreachable)
      return retryWhileUnavailable(Effect.orDie(repo.postpone(row.message_id, 2 ** (row.attempt_count + 1))))
    }

    const sends = Effect.fnUntraced(function*(socket: SendingSocket) {
      const compose = composer(sessionId, socket)
      const prepare = (row: QueuedMessage) =>
        compose(row).pipe(
          Effect.map((ready) => newWritten(row, ready)),
          Effect.catch((error) => Effect.as(failedToPrepare(row)(error), undefined))
        )

      /** Milliseconds until there may be something to do; 0 when something was done; undefined when it is over. */
      const round = Effect.gen(function*() {
        yield* again(socket, overdue())
        if (window - inFlight.size < page) return 1_000
        const limit = isPaced ? 1 : page
        const rows = yield* retryWhileUnavailable(Effect.orDie(repo.next({ sessionId, limit })))
        const [first] = rows
        if (first === undefined) return 5_000
        const wait = waitFor(
          pace,
          { sent: moments, gap: Math.max(gap, first.delay_ms) },
          clock.currentTimeMillisUnsafe()
        )
        if (wait > 0) return Math.min(wait, 60_000)
        const together = first.delay_ms > 0 ? [first] : rows.filter(({ delay_ms }) => delay_ms === 0)
        const ready = (yield* Effect.forEach(together, prepare)).filter((message) => message !== undefined)
        if (ready.length === 0) return 0
        if (!(yield* write(socket, ready))) return undefined
        for (const _ of ready) moments.push(clock.currentTimeMillisUnsafe())
        moments.splice(0, moments.length - historySize(pace))
        gap = whatsappPauseMost === 0
          ? 0
          : yield* Random.nextIntBetween(Math.min(whatsappPauseLeast, whatsappPauseMost), whatsappPauseMost + 1)
        return 0
      })

      while (true) {
        const wait = yield* round
        if (wait === undefined) return
        if (wait > 0) yield* Effect.timeoutOption(Queue.take(woken), wait)
      }
    })

    /** Files go apart from the messages: a slow one keeps nobody waiting. */
    const files = Effect.fnUntraced(function*(socket: SendingSocket) {
      const compose = composer(sessionId, socket)
      const one = (row: QueuedMessage) =>
        compose(row).pipe(
          Effect.flatMap(({ body, chat }) =>
            retryWhileUnavailable(Effect.orDie(repo.keep(row.message_id, chat, body)))
          ),
          Effect.catch(failedToPrepare(row)),
          Effect.andThen(Effect.sync(wake))
        )
      while (true) {
        const rows = yield* retryWhileUnavailable(Effect.orDie(repo.nextFiles({ sessionId, limit: uploads })))
        yield* Effect.forEach(rows, one, { concurrency: uploads, discard: true })
        if (rows.length === 0) yield* Queue.take(filesWoken)
      }
    })

    const lasting = <A>(what: string, effect: Effect.Effect<A>) =>
      Effect.forkScoped(effect.pipe(
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.andThen(Effect.logError(`${what} of a WhatsApp session stopped`, cause), Effect.sleep("1 second"))
        ),
        Effect.sandbox,
        Effect.retry({ while: (cause) => !Cause.hasInterruptsOnly(cause) }),
        Effect.ignoreCause,
        Effect.annotateLogs({ session: sessionId })
      ))

    return {
      onOpened: Effect.fnUntraced(function*(socket) {
        yield* lasting(
          "the sending",
          Effect.gen(function*() {
            const limit = historySize(pace)
            const now = clock.currentTimeMillisUnsafe()
            const recent = yield* retryWhileUnavailable(Effect.orDie(repo.recent({ sessionId, limit })))
            moments.splice(0, moments.length, ...recent.map(({ age }) => now - age).reverse())
            yield* again(socket, yield* retryWhileUnavailable(Effect.orDie(repo.unacknowledged(sessionId))))
            yield* sends(socket)
          })
        )
        yield* lasting("the uploading", files(socket))
      }),
      onStanza: (kind, stanza) => {
        if (kind === "ack") {
          const { error, id } = stanza.attrs
          if (id === undefined) return
          if (inFlight.delete(id) && window - inFlight.size === page) wake()
          updates.enqueue(
            error === undefined ? updateOf(id, "sent") : updateOf(id, "failed", refusedByServer(error))
          )
        }
        const receipt = kind === "receipt" ? receiptStatus(stanza) : undefined
        for (const id of receipt?.ids ?? []) updates.enqueue(updateOf(id, receipt?.status ?? "delivered"))
      },
      sentMessage: (_, whatsappId) =>
        repo.body({ sessionId, whatsappId }).pipe(
          Effect.orDie,
          Effect.map((row) => row._tag === "Some" ? keptOf(row.value) : undefined)
        )
    }
  })

  return { attach } satisfies OutboundPart
})
