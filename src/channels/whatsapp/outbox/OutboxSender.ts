/**
 * Sends the messages of a session over its connection: it stores each as `written`, writes it to the socket, and a message
 * is sent once the server acknowledges it.
 *
 * Callers: the session's connection. `OutboxSenders` wakes it after a commit, and every second while messages are due.
 * State: the rows of `whatsapp_outbox`. In memory: written messages without an acknowledgement, and the times of earlier
 * ones for the rate limits.
 * On shard move: it stops with its connection. The next connection first writes what was not acknowledged.
 * Idempotence: a repetition has the same id, which WhatsApp deduplicates. Only the session's current epoch may write, and
 * only within a few seconds after a statement has found it unchanged, so that a node that was frozen stops.
 * Sleep: without due messages, until it is woken.
 *
 * It has its own loop instead of a `LeasedQueue`: the epoch is its fence, so it needs no claims and leases; one statement
 * and one write carry up to 50 messages in order; and an acknowledgement, not an effect's end, ends an attempt.
 */
import { Cause, Clock, Context, Duration, Effect, Layer, Random } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { type CodeSeed, fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { expiryIn, type HasExpired, millisOf } from "../../../platform/schedule/monotonic.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { isGroup } from "../content/MessageContent.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { OutboundPart } from "../socket/MessageTraffic.ts"
import type { SocketFailed } from "../socket/SocketErrors.ts"
import type { NotRelayed } from "../socket/WhatsAppSocket.ts"
import * as MessageComposer from "./MessageComposer.ts"
import type { Connection, NotSendable } from "./MessageComposer.ts"
import { groupUnknown, type MessageFailure, notAcknowledged, refusedByServer, unreachable } from "./MessageFailures.ts"
import { OutboxRepo, type QueuedMessage, type WrittenMessage } from "./OutboxRepo.ts"
import { OutboxSenders } from "./OutboxSenders.ts"
import { receiptStatus, type ReportedStatus } from "./OutboxState.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"
import { nextPrepareDelay } from "./PrepareRetryPolicy.ts"
import { historySize, isPaced, waitFor } from "./SendRate.ts"

/** Most messages that await their acknowledgement. */
const maxUnacknowledged = 100

/** Most messages of one write. While there is less room than this, nothing is written, so that writes stay large. */
const groupSize = 50

const uploadConcurrency = 3

/** A message without an acknowledgement for this long is written to the same connection again. */
const ackTimeout = 30_000

const maxAttempts = 5

/**
 * How long this node may write to the socket after a statement has found the session's epoch unchanged. Another node owns
 * the session of a frozen one later than that.
 */
const leaseTime = Duration.seconds(8)

const pollInterval = 5_000

/** The poll interval without room for a group. Acknowledgements end the wait earlier. */
const roomPollInterval = 1_000

const maxRateWait = 60_000

/** Written messages that await their acknowledgement. */
const makeUnacknowledged = (clock: Clock.Clock) => {
  const waiting = new Map<string, { readonly message: WrittenMessage; readonly at: number }>()
  return {
    /** Adds messages, or restarts their timeout. */
    add: (messages: ReadonlyArray<WrittenMessage>) => {
      const at = millisOf(clock)
      for (const message of messages) waiting.set(message.whatsapp_id, { message, at })
    },
    has: ({ whatsapp_id }: WrittenMessage) => waiting.has(whatsapp_id),
    remove: (whatsappId: string) => waiting.delete(whatsappId),
    overdue: () => {
      const before = millisOf(clock) - ackTimeout
      return [...waiting.values()].filter(({ at }) => at <= before).map(({ message }) => message)
    },
    room: () => maxUnacknowledged - waiting.size
  }
}

/** The rate limits of one session, so that WhatsApp does not take it for a machine (spec 8). */
const makeRate = (config: AppConfig["Service"], clock: Clock.Clock) => {
  const { whatsappPauseLeast, whatsappPauseMost, whatsappPerDay: perDay, whatsappPerMinute: perMinute } = config
  const limits = { perDay, perMinute }
  const minPause = Math.min(whatsappPauseLeast, whatsappPauseMost)
  const sent: Array<number> = []
  let pause = minPause
  return {
    historySize: historySize(limits),
    isLimited: isPaced(config),
    restore: (times: ReadonlyArray<number>) => void sent.splice(0, sent.length, ...times),
    /** Milliseconds until the next message, which asks for a pause of `delay` itself. */
    wait: (delay: number) => waitFor(limits, { sent, gap: Math.max(pause, delay) }, millisOf(clock)),
    note: Effect.fnUntraced(function*(count: number) {
      sent.push(...Array.from({ length: count }, () => millisOf(clock)))
      sent.splice(0, sent.length - historySize(limits))
      pause = whatsappPauseMost === 0 ? 0 : yield* Random.nextIntBetween(minPause, whatsappPauseMost + 1)
    })
  }
}

const newWritten = (row: QueuedMessage, { body, chat }: { readonly body: Uint8Array; readonly chat: string }) => ({
  message_id: row.message_id,
  whatsapp_id: row.whatsapp_id,
  attempt_count: 1,
  chat,
  body,
  code_seed: row.code_seed
})

const make = Effect.gen(function*() {
  const config = yield* AppConfig
  const { verify: codeKey } = yield* MacKeys
  const repo = yield* OutboxRepo
  const updates = yield* OutboxStatusUpdates
  const senders = yield* OutboxSenders
  const composer = yield* MessageComposer.make

  /** The one-time code is filled in when the message is encrypted. Before, it is written nowhere. */
  const bodyOf = ({ body, code_seed }: { readonly body: Uint8Array; readonly code_seed: CodeSeed | null }) => ({
    body,
    fillIn: code_seed === null ? undefined : (text: string) => fillIn(codeKey, code_seed, text)
  })

  const attach: OutboundPart["attach"] = Effect.fnUntraced(function*(owned: OwnedSession) {
    const sessionId = owned.id
    const clock = yield* Clock.Clock
    const unacknowledged = makeUnacknowledged(clock)
    const rate = makeRate(config, clock)
    let hasExpired: HasExpired = () => true
    const wakeup = yield* Wakeup.make
    const fileWakeup = yield* Wakeup.make

    yield* senders.register(sessionId, (hasFiles) => {
      wakeup.signalUnsafe()
      if (hasFiles) fileWakeup.signalUnsafe()
    })
    const updateOf = (whatsappId: string, status: ReportedStatus, error?: MessageFailure) => ({
      sessionId,
      whatsappId,
      status,
      ...(error !== undefined && { error })
    })
    const fail = (whatsappId: string, error: MessageFailure) =>
      updates.write([updateOf(whatsappId, "failed", error)], owned)

    /** Runs a statement whose result says whether this node still owns the session. */
    const renewing = <A>(statement: Effect.Effect<A>, isOwner: (result: A) => boolean) =>
      Effect.suspend(() => {
        const next = expiryIn(clock, leaseTime)
        return Effect.tap(statement, (result) =>
          Effect.sync(() => {
            if (isOwner(result)) hasExpired = next
          }))
      })

    const keepLease = renewing(repo.isOwner(owned), ({ is_owner }) => is_owner).pipe(
      Effect.delay("1 second"),
      Effect.ignoreCause,
      Effect.forever
    )

    /** Fails messages to groups that the session has left. Others time out, or the next connection writes them. */
    const onNotRelayed = Effect.fnUntraced(function*(
      { hasLeft }: Connection,
      messages: ReadonlyArray<WrittenMessage>,
      failed: ReadonlyArray<NotRelayed>
    ) {
      for (const { id, reason } of failed) {
        yield* Effect.annotateLogs(Effect.logDebug("writing a WhatsApp message to the socket failed"), { id, reason })
      }
      const ids = new Set(failed.map(({ id }) => id))
      const toGroups = messages.filter(({ chat, whatsapp_id }) => isGroup(chat) && ids.has(whatsapp_id))
      for (const [group, lost] of Map.groupBy(toGroups, ({ chat }) => chat)) {
        if (!(yield* hasLeft(group))) continue
        for (const { whatsapp_id } of lost) {
          unacknowledged.remove(whatsapp_id)
          yield* fail(whatsapp_id, groupUnknown)
        }
      }
    })

    const relay = Effect.fnUntraced(function*(connection: Connection, messages: ReadonlyArray<WrittenMessage>) {
      unacknowledged.add(messages)
      const relaying = connection.socket.relay(
        messages.map((message) => ({ chat: message.chat, id: message.whatsapp_id, ...bodyOf(message) })),
        () => !hasExpired()
      )
      const failed = yield* Effect.raceFirst(relaying, keepLease)
      // Their timeout starts when the last of them is written.
      unacknowledged.add(messages.filter(unacknowledged.has))
      yield* onNotRelayed(connection, messages, failed)
    })

    /** False when another owner has the session, or all the messages have failed meanwhile. */
    const write = Effect.fnUntraced(function*(connection: Connection, messages: ReadonlyArray<WrittenMessage>) {
      if (messages.length === 0) return true
      const writing = renewing(repo.write(owned, messages), ({ length }) => length > 0)
      const allowed = new Set((yield* retryWhileUnavailable(writing)).map((row) => row.message_id))
      const isAllowed = ({ message_id }: WrittenMessage) => allowed.has(message_id)
      for (const message of messages) if (!isAllowed(message)) unacknowledged.remove(message.whatsapp_id)
      if (allowed.size > 0) yield* relay(connection, messages.filter(isAllowed))
      return allowed.size > 0
    })

    const rewrite = Effect.fnUntraced(function*(connection: Connection, messages: ReadonlyArray<WrittenMessage>) {
      const isExhausted = ({ attempt_count }: WrittenMessage) => attempt_count >= maxAttempts
      for (const { whatsapp_id } of messages.filter(isExhausted)) {
        unacknowledged.remove(whatsapp_id)
        yield* fail(whatsapp_id, notAcknowledged)
      }
      const left = messages.filter((message) => !isExhausted(message))
      yield* write(connection, left.map((message) => ({ ...message, attempt_count: message.attempt_count + 1 })))
    })

    /** A message that the end of the connection interrupts stays due for the next connection. */
    const onUnprepared = ({ socket }: Connection, row: QueuedMessage) => (error: NotSendable | SocketFailed) => {
      if (error._tag === "NotSendable") return fail(row.whatsapp_id, error)
      if (!socket.isOpen()) return Effect.void
      const delay = nextPrepareDelay(row.attempt_count + 1)
      if (delay === undefined) return fail(row.whatsapp_id, unreachable)
      return retryWhileUnavailable(repo.postpone(owned, row.message_id, delay))
    }

    const sendMessages = Effect.fnUntraced(function*(connection: Connection) {
      const { socket } = connection
      const prepare = (row: QueuedMessage) =>
        connection.compose(row).pipe(
          Effect.map((prepared) => newWritten(row, prepared)),
          Effect.catch((error) => Effect.as(onUnprepared(connection, row)(error), undefined))
        )

      /** Milliseconds until the next poll. Undefined when the connection is closed or another owner has the session. */
      const round = Effect.gen(function*() {
        yield* rewrite(connection, unacknowledged.overdue())
        if (unacknowledged.room() < groupSize) return roomPollInterval
        const rows = yield* retryWhileUnavailable(repo.next({ sessionId, limit: rate.isLimited ? 1 : groupSize }))
        const [first] = rows
        if (first === undefined) return pollInterval
        const wait = rate.wait(first.delay_ms)
        if (wait > 0) return Math.min(wait, maxRateWait)
        const group = first.delay_ms > 0 ? [first] : rows.filter(({ delay_ms }) => delay_ms === 0)
        const prepared = (yield* Effect.forEach(group, prepare)).filter((message) => message !== undefined)
        if (!socket.isOpen()) return undefined
        if (prepared.length === 0) return 0
        if (!(yield* write(connection, prepared))) {
          // They may have been canceled meanwhile.
          return (yield* retryWhileUnavailable(repo.isOwner(owned))).is_owner ? 0 : undefined
        }
        yield* rate.note(prepared.length)
        return 0
      })

      while (true) {
        const wait = yield* round
        if (wait === undefined) return
        if (wait > 0) yield* wakeup.wait(wait)
      }
    })

    /** Uploads files apart from the messages, so that a slow upload delays no message. */
    const uploadFiles = Effect.fnUntraced(function*(connection: Connection) {
      const upload = (row: QueuedMessage) =>
        connection.compose(row).pipe(
          Effect.flatMap((prepared) => retryWhileUnavailable(repo.storePrepared(owned, { ...row, ...prepared }))),
          Effect.catch(onUnprepared(connection, row)),
          Effect.andThen(wakeup.signal)
        )
      while (connection.socket.isOpen()) {
        const rows = yield* retryWhileUnavailable(repo.nextFiles({ sessionId, limit: uploadConcurrency }))
        yield* Effect.forEach(rows, upload, { concurrency: uploadConcurrency, discard: true })
        if (rows.length === 0) yield* fileWakeup.wait()
      }
    })

    /** Runs a loop until the connection closes. Starts it again a second after a failure. */
    const keepRunning = <A>(activity: string, loop: Effect.Effect<A>) =>
      Effect.forkScoped(loop.pipe(
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.andThen(
              Effect.logError(`${activity} of a WhatsApp session failed`, cause),
              Effect.sleep("1 second")
            )
        ),
        Effect.sandbox,
        Effect.retry({ while: (cause) => !Cause.hasInterruptsOnly(cause) }),
        Effect.ignoreCause,
        Effect.annotateLogs({ session: sessionId })
      ))

    return {
      onOpened: Effect.fnUntraced(function*(socket) {
        const connection = composer(sessionId, socket)
        const send = Effect.gen(function*() {
          const now = millisOf(clock)
          const recent = yield* retryWhileUnavailable(repo.recent({ sessionId, limit: rate.historySize }))
          rate.restore(recent.map(({ age }) => now - age).reverse())
          yield* rewrite(connection, yield* retryWhileUnavailable(repo.unacknowledged(sessionId)))
          yield* sendMessages(connection)
        })
        yield* keepRunning("sending messages", send)
        yield* keepRunning("uploading files", uploadFiles(connection))
      }),
      onStanza: (kind, stanza) => {
        if (kind === "ack") {
          const { error, id } = stanza.attrs
          if (id === undefined) return
          if (unacknowledged.remove(id) && unacknowledged.room() === groupSize) wakeup.signalUnsafe()
          updates.enqueue(
            error === undefined ? updateOf(id, "sent") : updateOf(id, "failed", refusedByServer(error))
          )
        }
        const receipt = kind === "receipt" ? receiptStatus(stanza) : undefined
        for (const id of receipt?.ids ?? []) updates.enqueue(updateOf(id, receipt?.status ?? "delivered"))
      },
      sentMessage: (_, whatsappId) =>
        Effect.map(
          repo.body({ sessionId, whatsappId }),
          (row) => row._tag === "Some" ? bodyOf(row.value) : undefined
        )
    }
  })

  return { attach, wake: (id: WhatsAppSessionId) => void senders.wake(id, true) }
})

/** The outbound half of a connection: messages to send, acknowledgements and receipts. */
export class OutboxSender extends Context.Service<OutboxSender, OutboundPart>()(
  "messaging-service/channels/whatsapp/outbox/OutboxSender"
) {
  static readonly layer = Layer.effect(OutboxSender, make).pipe(Layer.provide(OutboxRepo.layer))
}
