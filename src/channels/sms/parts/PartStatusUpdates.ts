import { Context, Effect, Layer } from "effect"
import { domainEvent, Events } from "../../../events/Events.ts"
import * as BatchCounts from "../../../messages/BatchCounts.ts"
import { refundOf } from "../../../messages/MessageChanges.ts"
import { Database } from "../../../platform/database/Database.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { type Advance, advance } from "./PartState.ts"
import { type LockedSms, type PartOutcome, PartStatusRepo, type StatusChange } from "./PartStatusRepo.ts"
import { smsData } from "./smsData.ts"
import type { Receipt } from "./SmsProvider.ts"

/** A message that changes its status. */
interface AdvancedSms {
  readonly message: LockedSms
  readonly advance: Advance
  readonly change: StatusChange
}

const eventsOf = ({ advance: { impliesSent, status }, change, message }: AdvancedSms) => {
  const { account_id: accountId, id, recipient: to, type } = message
  const sms = smsData(message)
  const about = { accountId, channel: "sms" } as const
  const sent = () => domainEvent({ ...about, event: "message.sent", data: { ...sms, to, type, status: "sent" } })
  switch (status) {
    case "sent":
      return [sent()]
    case "delivered": {
      const data = { ...sms, id, to, status: "delivered", delivered_at: change.at } as const
      const delivered = domainEvent({ ...about, event: "message.delivered", data })
      return impliesSent ? [sent(), delivered] : [delivered]
    }
    case "failed": {
      const error = { error_code: change.error_code ?? "failed", error_message: change.error_message ?? "" }
      return [domainEvent({ ...about, event: "message.failed", data: { ...sms, ...error } })]
    }
  }
}

const canceledEvent = ({ canceled_at, ...message }: LockedSms & { readonly canceled_at: Timestamp }) => {
  const { account_id: accountId, recipient: to, type } = message
  const data = { ...smsData(message), to, type, status: "canceled", canceled_at } as const
  return domainEvent({ accountId, event: "message.canceled", channel: "sms", data })
}

const count = ({ advance: { impliesSent, status }, change: { error_code }, message }: AdvancedSms) => {
  if (isTest(message.account_id)) return
  if (impliesSent) MessageMetrics.sent("sms")
  if (status === "failed") MessageMetrics.failed("sms", error_code ?? "refused")
  else MessageMetrics[status]("sms")
}

/**
 * The only writer of status updates of SMS on a node. One transaction changes parts, messages and the counts of their
 * batches, and publishes the events. It locks the messages first, so that the last part of a message sees all others.
 */
export class PartStatusUpdates extends Context.Service<PartStatusUpdates, {
  /** Records the outcome of an attempt; returns once it is committed. */
  readonly outcome: (outcome: PartOutcome) => Effect.Effect<void>
  /** Records a receipt; returns once it is committed. Receipts may repeat and come in any order. */
  readonly receipt: (receipt: Receipt) => Effect.Effect<void>
  /** Updates messages whose parts another statement has changed. */
  readonly refresh: (ids: ReadonlyArray<MessageId>) => Effect.Effect<void>
  /** Fails the live messages with a part that has been due for a day. */
  readonly expire: Effect.Effect<void>
  /**
   * Cancels a batch, with those of its messages that surely have no submitted part. `release` runs in the same transaction:
   * it returns claims to the queue that have not begun.
   */
  readonly cancel: (batchId: MessageBatchId, release: Effect.Effect<void>) => Effect.Effect<void>
  /** Cancels a message likewise, if surely none of its parts was submitted. False if it is too late. */
  readonly cancelOne: (id: MessageId, release: Effect.Effect<void>) => Effect.Effect<boolean>
  /** Matches the kept receipts, which preceded the answer to their submit, and drops those that are too old. */
  readonly matchReceipts: Effect.Effect<void>
}>()("messaging-service/channels/sms/parts/PartStatusUpdates") {
  static readonly layer = Layer.effect(
    PartStatusUpdates,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const events = yield* Events
      const repo = yield* PartStatusRepo
      const countBatches = yield* BatchCounts.make
      const usage = yield* Usage

      const advancedOf = Effect.fnUntraced(function*(messages: ReadonlyArray<LockedSms & { readonly now: Timestamp }>) {
        const counts = yield* repo.counts(messages.map(({ id }) => id))
        const byId = new Map(messages.map((message) => [message.id, message]))
        return counts.flatMap(({ error_code, error_message, message_id: id, ...parts }): ReadonlyArray<AdvancedSms> => {
          const message = byId.get(id)
          const next = message === undefined ? undefined : advance(message.status, parts)
          if (message === undefined || next === undefined) return []
          return [{
            message,
            advance: next,
            change: { id, status: next.status, at: message.now, error_code, error_message }
          }]
        })
      })

      /** Locks the messages, changes their parts, and then the messages themselves. */
      const write = (ids: ReadonlyArray<MessageId>, change: Effect.Effect<void>) =>
        Effect.gen(function*() {
          const messages = yield* repo.lock([...new Set(ids)])
          yield* change
          const advanced = yield* advancedOf(messages)
          const failed = [
            ...messages.filter(({ status }) => status === "failed").map(({ id }) => id),
            ...advanced.filter(({ advance: { status } }) => status === "failed").map(({ change: { id } }) => id)
          ]
          if (failed.length > 0) yield* repo.failUnsent(failed)
          if (advanced.length === 0) return
          yield* repo.advance(advanced.map(({ change }) => change))
          yield* countBatches(advanced.map(({ advance: { leavesQueue, status }, message: { batch_id: batchId } }) => ({
            batchId,
            to: !leavesQueue ? undefined : status === "failed" ? "failed" : "sent"
          })))
          yield* events.publish(advanced.flatMap(eventsOf))
          yield* afterCommit(Effect.sync(() => advanced.forEach(count)))
        })

      const cancelUnsent = Effect.fnUntraced(function*(ids: ReadonlyArray<MessageId>) {
        const canceled = yield* repo.cancelUnsent(ids)
        yield* countBatches(canceled.map(({ batch_id: batchId }) => ({ batchId, to: "canceled" as const })))
        yield* usage.count(refundOf(canceled))
        yield* events.publish(canceled.map(canceledEvent))
        return canceled.length
      })

      /** A part that returns to the queue of a canceled batch is not submitted again. */
      const cancelReturned = Effect.fnUntraced(function*(outcomes: ReadonlyArray<PartOutcome>) {
        const queued = outcomes.filter(({ transition }) => transition.status === "queued")
        if (queued.length === 0) return
        const ids = (yield* repo.inCanceledBatch(queued.map(({ message_id }) => message_id))).map(({ id }) => id)
        if (ids.length > 0) yield* cancelUnsent(ids)
      })

      // No caller waits for these, because the sender has claimed ahead. Few large groups spare the node and the database.
      const outcome = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 1,
        pause: "15 millis",
        run: (outcomes: ReadonlyArray<PartOutcome>) =>
          Effect.as(
            transaction(Effect.andThen(
              write(outcomes.map(({ message_id }) => message_id), repo.settle(outcomes)),
              cancelReturned(outcomes)
            )),
            Array.from(outcomes, () => undefined)
          )
      })

      const receive = Effect.fnUntraced(function*(receipts: ReadonlyArray<Receipt>) {
        const found = yield* repo.findMessages(receipts)
        const ids = found.flatMap(({ message_id }) => message_id === null ? [] : [message_id])
        const unmatched = receipts.filter((_, index) => found[index]?.message_id === null)
        if (unmatched.length > 0) yield* repo.keepUnmatched(unmatched)
        if (ids.length > 0) yield* write(ids, repo.applyReceipts(receipts, ids))
      })

      const receipt = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 2,
        run: (receipts: ReadonlyArray<Receipt>) =>
          Effect.as(transaction(receive(receipts)), Array.from(receipts, () => undefined))
      })

      /** False when none is overdue. */
      const expireSome = Effect.gen(function*() {
        const ids = (yield* repo.findOverdue()).map(({ message_id }) => message_id)
        if (ids.length > 0) yield* transaction(write(ids, repo.failOverdue(ids)))
        return ids.length > 0
      })

      return PartStatusUpdates.of({
        outcome,
        receipt,
        refresh: (ids) => ids.length === 0 ? Effect.void : transaction(write(ids, Effect.void)),
        expire: Effect.asVoid(Effect.repeat(expireSome, { while: (hasMore) => hasMore })),
        cancel: (batchId, release) =>
          transaction(Effect.gen(function*() {
            const queued = yield* repo.lockQueued(batchId)
            yield* release
            yield* repo.markCanceled(batchId)
            yield* cancelUnsent(queued.map(({ id }) => id))
          })),
        // A claim locks the parts as well: of a cancel and a hand-over that race, one finds the status that it needs.
        cancelOne: (id, release) =>
          transaction(Effect.gen(function*() {
            yield* repo.lock([id])
            yield* release
            return (yield* cancelUnsent([id])) > 0
          })),
        matchReceipts: Effect.andThen(
          transaction(Effect.gen(function*() {
            const matched = yield* repo.takeMatched()
            if (matched.length > 0) yield* receive(matched)
          })),
          repo.pruneUnmatched
        )
      })
    })
  ).pipe(Layer.provide(PartStatusRepo.layer))
}

/** Matches receipts that preceded the answer to their submit, for ten minutes. */
export const ReceiptMatching = PeriodicTask.make(
  "SmsReceiptMatching",
  "1 second",
  Effect.flatMap(PartStatusUpdates, ({ matchReceipts }) => matchReceipts)
)
