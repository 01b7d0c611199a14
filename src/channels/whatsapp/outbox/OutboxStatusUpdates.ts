import { Cause, Clock, Context, Effect, Exit, Layer, Option } from "effect"
import { domainEvent, Events } from "../../../events/Events.ts"
import * as BatchCounts from "../../../messages/BatchCounts.ts"
import { type CanceledMessage, refundOf } from "../../../messages/MessageChanges.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import type { OwnedSession } from "../model/Session.ts"
import { type ReportedStatus, transition } from "./OutboxState.ts"
import {
  type Canceled,
  type LockedMessage,
  type Moments,
  OutboxStatusRepo,
  type StatusUpdate,
  type Step
} from "./OutboxStatusRepo.ts"

/** A status update with the time of its arrival by the node's clock. The repository gets the difference to now. */
interface TimedUpdate extends StatusUpdate {
  readonly at: number
}

/** An update that changes its message. */
interface Change {
  readonly message: LockedMessage
  readonly update: TimedUpdate
  readonly published: ReadonlyArray<ReportedStatus>
  readonly leavesQueue: boolean
}

const keyOf = (sessionId: WhatsAppSessionId, whatsappId: string) => `${sessionId}/${whatsappId}`

const domainEventOf =
  ({ message, update: { error } }: Change, { delivered_at, read_at }: Moments) => (status: ReportedStatus) => {
    const { account_id: accountId, failover_id, message_id, metadata, recipient: to, session_id, tags, type } = message
    const about = { accountId, channel: "whatsapp" } as const
    const data = { channel: "whatsapp", message_id, session_id, tags, metadata, failover_id } as const
    switch (status) {
      case "sent":
        return domainEvent({ ...about, event: "message.sent", data: { ...data, to, type, status: "sent" } })
      case "delivered":
        return domainEvent({ ...about, event: "message.delivered", data: { ...data, delivered_at } })
      case "read":
        return domainEvent({ ...about, event: "message.read", data: { ...data, read_at } })
      case "failed": {
        const failed = { error_code: error?.code ?? "failed", error_message: error?.message ?? "" }
        return domainEvent({ ...about, event: "message.failed", data: { ...data, ...failed } })
      }
    }
  }

const count = ({ message, published, update: { error } }: Change) => {
  if (isTest(message.account_id)) return
  for (const status of published) {
    if (status === "sent" || status === "delivered") MessageMetrics[status]("whatsapp")
    if (status === "failed") MessageMetrics.failed("whatsapp", error?.code ?? "refused")
  }
}

const stepOf = ({ message, published, update: { at, error, status } }: Change, now: number): Step => {
  const when = (name: ReportedStatus) => published.includes(name) ? Math.max(now - at, 0) : null
  return {
    id: message.message_id,
    status,
    sent: when("sent"),
    delivered: when("delivered"),
    read: when("read"),
    failed: when("failed"),
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null
  }
}

const canceledEvent = ({ account_id: accountId, canceled_at, id, recipient: to, ...message }: Canceled) => {
  const { failover_id, metadata, session_id, tags, type } = message
  const sent = { channel: "whatsapp", message_id: id, session_id, to, type, tags, metadata, failover_id } as const
  const data = { ...sent, status: "canceled", canceled_at } as const
  return domainEvent({ accountId, event: "message.canceled", channel: "whatsapp", data })
}

const sentCounts = (changes: ReadonlyArray<Change>) => {
  const counts = new Map<WhatsAppSessionId, number>()
  for (const { message: { session_id }, published } of changes) {
    if (published.includes("sent")) counts.set(session_id, (counts.get(session_id) ?? 0) + 1)
  }
  return counts
}

/** Applies the updates in their order and keeps those that change their message. */
const changesOf = (
  locked: ReadonlyArray<LockedMessage>,
  updates: ReadonlyArray<TimedUpdate>
): ReadonlyArray<Change> => {
  const messages = new Map(locked.map((message) => [keyOf(message.session_id, message.whatsapp_id), message]))
  const changes: Array<Change> = []
  for (const update of updates) {
    const key = keyOf(update.sessionId, update.whatsappId)
    const message = messages.get(key)
    const next = message === undefined ? undefined : transition(message.status, update.status)
    if (message === undefined || next === undefined) continue
    messages.set(key, { ...message, status: next.status })
    changes.push({ message, update, published: next.published, leavesQueue: next.leavesQueue })
  }
  return changes
}

/** Joins the changes of each message into one step: its last status, with the times of all of them. */
const stepsOf = (changes: ReadonlyArray<Change>, now: number): ReadonlyArray<Step> => {
  const steps = new Map<number, Step>()
  for (const change of changes) {
    const step = stepOf(change, now)
    const before = steps.get(step.id)
    steps.set(
      step.id,
      before === undefined ? step : {
        ...step,
        sent: before.sent ?? step.sent,
        delivered: before.delivered ?? step.delivered
      }
    )
  }
  return [...steps.values()]
}

/** The loss is bearable: an unacknowledged message is sent again under its id, and a later status implies this one. */
const logLoss = (cause: Cause.Cause<unknown>) => Effect.logError("storing a WhatsApp status update failed", cause)

/** Stores and publishes status updates. Outbox, messages, counts and events of a group are one transaction. */
export class OutboxStatusUpdates extends Context.Service<OutboxStatusUpdates, {
  /** Stores the update soon, as part of a group. It waits while the database is unavailable. */
  readonly enqueue: (update: StatusUpdate) => void
  /** Succeeds once the updates are stored. With an owner it stores none if the session has another one. */
  readonly write: (updates: ReadonlyArray<StatusUpdate>, owner?: OwnedSession) => Effect.Effect<void>
  /**
   * Cancels those messages of a batch that are not written to a connection. A sender writes none of them afterwards: it
   * records a message as written first, and that statement skips them.
   */
  readonly cancel: (batchId: MessageBatchId) => Effect.Effect<void>
  /** The same for one message. False if it is too late. */
  readonly cancelOne: (id: MessageId) => Effect.Effect<boolean>
}>()("messaging-service/channels/whatsapp/outbox/OutboxStatusUpdates") {
  static readonly layer = Layer.effect(
    OutboxStatusUpdates,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const events = yield* Events
      const repo = yield* OutboxStatusRepo
      const countBatches = yield* BatchCounts.make
      const usage = yield* Usage
      const context = yield* Effect.context<never>()
      const clock = yield* Clock.Clock

      const record = Effect.fnUntraced(function*(updates: ReadonlyArray<TimedUpdate>) {
        const changes = changesOf(yield* repo.lock(updates), updates)
        if (changes.length === 0) return
        const written = yield* repo.step(stepsOf(changes, clock.currentTimeMillisUnsafe()))
        const moments = new Map(written.map((row) => [row.id, row]))
        yield* countBatches(changes.map(({ leavesQueue, message: { batch_id: batchId }, update: { status } }) => ({
          batchId,
          to: !leavesQueue ? undefined : status === "failed" ? "failed" : "sent"
        })))
        const counts = sentCounts(changes)
        if (counts.size > 0) yield* repo.countSent(counts)
        yield* events.publish(changes.flatMap((change) => {
          const written = moments.get(change.message.message_id)
          return written === undefined ? [] : change.published.map(domainEventOf(change, written))
        }))
        yield* afterCommit(Effect.sync(() => changes.forEach(count)))
      })

      const noteCanceled = Effect.fnUntraced(
        function*(canceled: ReadonlyArray<typeof CanceledMessage.Type & Canceled>) {
          yield* countBatches(canceled.map(({ batch_id: batchId }) => ({ batchId, to: "canceled" as const })))
          yield* usage.count(refundOf(canceled))
          yield* events.publish(canceled.map(canceledEvent))
        }
      )

      const write = (updates: ReadonlyArray<TimedUpdate>, owner?: OwnedSession) =>
        retryWhileUnavailable(transaction(Effect.gen(function*() {
          if (owner === undefined || Option.isSome(yield* repo.lockOwner(owner))) yield* record(updates)
        })))

      /** Those that are not stored. A node that stops stores them last; a repeated update changes nothing. */
      const pending = new Set<TimedUpdate>()
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => pending.size === 0 ? Effect.void : Effect.catchCause(write([...pending]), logLoss))
      )
      const submit = yield* GroupCommit.makeWithCallback({
        maxSize: 500,
        concurrency: 1,
        // Each message gets up to three updates, at different times.
        pause: "15 millis",
        run: (updates: ReadonlyArray<TimedUpdate>) => Effect.as(write(updates), updates)
      })
      const timed = (update: StatusUpdate): TimedUpdate => ({ ...update, at: clock.currentTimeMillisUnsafe() })
      const runFork = Effect.runForkWith(context)

      return OutboxStatusUpdates.of({
        enqueue: (status) => {
          const update = timed(status)
          pending.add(update)
          submit(update, (exit) => {
            if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return
            pending.delete(update)
            if (Exit.isFailure(exit)) runFork(logLoss(exit.cause))
          })
        },
        write: (updates, owner) => Effect.suspend(() => write(updates.map(timed), owner)),
        cancel: Effect.fn("OutboxStatusUpdates.cancel")(function*(batchId) {
          const canceled = yield* repo.cancelQueued(batchId)
          yield* repo.markCanceled(batchId)
          yield* noteCanceled(canceled)
        }, transaction),
        cancelOne: Effect.fn("OutboxStatusUpdates.cancelOne")(function*(id) {
          const canceled = yield* repo.cancelQueued(id)
          yield* noteCanceled(canceled)
          return canceled.length > 0
        }, transaction)
      })
    })
  ).pipe(Layer.provide(OutboxStatusRepo.layer))
}
