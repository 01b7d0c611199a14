import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { makeBatchCounts } from "../../../messages/BatchCounts.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { dollars } from "../../../pricing/SmsPrice.ts"
import type { MessageId } from "../../../values/Ids.ts"
import { fromDateTime, type Timestamp } from "../../../values/Timestamp.ts"
import { type LockedSms, makePartNewsRepo, type PartOutcome, type Step } from "./PartStatusRepo.ts"
import type { Receipt } from "./Receipt.ts"
import { advance, type Advanced } from "./SmsState.ts"

/** A message that goes on, with what is told of it. */
interface Moved {
  readonly message: LockedSms
  readonly advanced: Advanced
  readonly step: Step
}

const happeningsOf = ({ advanced, message, step }: Moved) => {
  const { account_id: accountId, cost_micros, id, recipient: to, segments, type } = message
  const sms = { channel: "sms", message_id: id, session_id: null, segments, cost_usd: dollars(cost_micros) } as const
  const about = { accountId, channel: "sms" } as const
  const sent = () => domainEvent({ ...about, event: "message.sent", data: { ...sms, to, type, status: "sent" } })
  switch (advanced.status) {
    case "sent":
      return [sent()]
    case "delivered": {
      const data = { ...sms, id, to, status: "delivered", delivered_at: step.at } as const
      const delivered = domainEvent({ ...about, event: "message.delivered", data })
      return advanced.impliesSent ? [sent(), delivered] : [delivered]
    }
    case "failed": {
      const error = { error_code: step.error_code ?? "failed", error_message: step.error_message ?? "" }
      return [domainEvent({ ...about, event: "message.failed", data: { ...sms, ...error } })]
    }
  }
}

/**
 * The one writer of what becomes of SMS on a node: parts, messages, counts of batches and events of many at a time in one
 * transaction. Messages are held first, in one order, so that the last part of a message sees all the others.
 */
export class PartStatusUpdates extends Context.Service<PartStatusUpdates, {
  /** What became of an attempt; returns when it is committed. */
  readonly outcome: (outcome: PartOutcome) => Effect.Effect<void>
  /** What a provider tells later, once or again, in any order; returns when it is committed. */
  readonly receipt: (receipt: Receipt) => Effect.Effect<void>
  /** Says of messages whose parts were changed elsewhere what that makes of them. */
  readonly review: (ids: ReadonlyArray<MessageId>) => Effect.Effect<void>
  /** Reads again the receipts that came before the answer to their submit. */
  readonly match: Effect.Effect<void>
}>()("messaging-service/channels/sms/parts/PartStatusUpdates") {
  static readonly layer = Layer.effect(
    PartStatusUpdates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const repo = yield* makePartNewsRepo
      const countBatches = yield* makeBatchCounts

      const movesOf = Effect.fnUntraced(function*(messages: ReadonlyArray<LockedSms>, at: Timestamp) {
        const counts = yield* Effect.orDie(repo.counts(messages.map(({ id }) => id)))
        const byId = new Map(messages.map((message) => [message.id, message]))
        return counts.flatMap(({ error_code, error_message, message_id: id, ...parts }): ReadonlyArray<Moved> => {
          const message = byId.get(id)
          const advanced = message === undefined ? undefined : advance(message.status, parts)
          if (message === undefined || advanced === undefined) return []
          return [{ message, advanced, step: { id, status: advanced.status, at, error_code, error_message } }]
        })
      })

      /** Holds the messages, changes their parts, and says what that makes of the messages. */
      const write = <E>(ids: ReadonlyArray<MessageId>, change: Effect.Effect<unknown, E>) =>
        Effect.gen(function*() {
          const messages = yield* Effect.orDie(repo.lock([...new Set(ids)]))
          yield* Effect.orDie(change)
          const moved = yield* movesOf(messages, fromDateTime(yield* DateTime.now))
          if (moved.length === 0) return
          yield* Effect.orDie(repo.step(moved.map(({ step }) => step)))
          yield* countBatches(moved.map(({ advanced: { leavesQueue, status }, message: { batch_id: batchId } }) => ({
            batchId,
            to: !leavesQueue ? undefined : status === "failed" ? "failed" : "sent"
          })))
          yield* events.publish(moved.flatMap(happeningsOf))
        })

      const inTransaction = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provideService(transaction(effect), SqlClient.SqlClient, sql)

      // Nobody waits for these: a pump has claimed ahead. So few and large groups spare the node and the database.
      const outcome = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 1,
        pause: "15 millis",
        run: (outcomes: ReadonlyArray<PartOutcome>) =>
          Effect.as(
            inTransaction(write(outcomes.map(({ message_id }) => message_id), repo.settle(outcomes))),
            Array.from(outcomes, () => undefined)
          )
      })

      const receive = Effect.fnUntraced(function*(receipts: ReadonlyArray<Receipt>) {
        const found = yield* Effect.orDie(repo.find(receipts))
        const ids = found.flatMap(({ message_id }) => message_id === null ? [] : [message_id])
        const unmatched = receipts.filter((_, index) => found[index]?.message_id === null)
        if (unmatched.length > 0) yield* Effect.orDie(repo.keepUnmatched(unmatched))
        if (ids.length > 0) yield* write(ids, repo.receive(receipts, ids))
      })

      const receipt = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 2,
        run: (receipts: ReadonlyArray<Receipt>) =>
          Effect.as(inTransaction(receive(receipts)), Array.from(receipts, () => undefined))
      })

      return PartStatusUpdates.of({
        outcome,
        receipt,
        review: (ids) => ids.length === 0 ? Effect.void : inTransaction(write(ids, Effect.void)),
        match: inTransaction(Effect.gen(function*() {
          const matched = yield* Effect.orDie(repo.takeMatched())
          if (matched.length > 0) yield* receive(matched)
        }))
      })
    })
  )
}
