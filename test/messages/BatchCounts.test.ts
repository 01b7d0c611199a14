import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as BatchCounts from "../../src/messages/BatchCounts.ts"
import { MessageBatchId } from "../../src/values/Ids.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

let serial = 0

/** A batch of this many messages. */
const makeBatch = Effect.fnUntraced(function*(total: number, canceled = 0) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const id = MessageBatchId.make(`sms_batch_${String(serial++).padStart(26, "0")}`)
  yield* sql`insert into message_batches (id, account_id, channel, total, canceled, status)
    values (${id}, ${accountId}, 'sms', ${total}, ${canceled}, ${canceled === 0 ? "queued" : "canceled"})`
  return id
})

const moves = (
  batchId: MessageBatchId | null,
  to: BatchCounts.BatchMove["to"],
  times = 1
): ReadonlyArray<BatchCounts.BatchMove> => Array.from({ length: times }, () => ({ batchId, to }))

const counted = Effect.fnUntraced(function*(id: MessageBatchId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select status, sent, failed, started_at is not null as started,
    completed_at is not null as completed from message_batches where id = ${id}`
  return { ...row }
})

layer(TestDatabase.layer)("BatchCounts", (it) => {
  it.effect("a batch counts sent and failed messages, and the last one completes it", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(4)
      yield* count([...moves(id, "sent", 2), ...moves(id, "failed"), ...moves(id, undefined), ...moves(null, "sent")])
      const under = { status: "processing", sent: 2, failed: 1, started: true, completed: false }
      assert.deepStrictEqual(yield* counted(id), under)
      yield* count(moves(id, "failed"))
      assert.deepStrictEqual(yield* counted(id), { ...under, status: "completed", failed: 2, completed: true })
    }))

  it.effect("a batch fails if all of its messages fail", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(2)
      yield* count(moves(id, "failed", 2))
      assert.deepInclude(yield* counted(id), { status: "failed", sent: 0, failed: 2, completed: true })
    }))

  it.effect("a canceled batch stays canceled while its messages in flight end", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(5, 3)
      yield* count(moves(id, "sent"))
      assert.deepInclude(yield* counted(id), { status: "canceled", sent: 1, completed: false })
      yield* count(moves(id, "sent"))
      assert.deepInclude(yield* counted(id), { status: "canceled", sent: 2, completed: true })
    }))

  it.effect("a batch that is canceled before a message was sent or failed has no start", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const [whole, part] = [yield* makeBatch(2), yield* makeBatch(3)]
      yield* count([...moves(whole, "canceled", 2), ...moves(part, "canceled")])
      assert.deepInclude(yield* counted(whole), { status: "canceled", started: false, completed: true })
      assert.deepInclude(yield* counted(part), { status: "processing", started: false })
      yield* count(moves(part, "failed"))
      assert.deepInclude(yield* counted(part), { failed: 1, started: true })
    }))

  it.effect("concurrent counts of several batches in any order do not deadlock", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const ids = yield* Effect.forEach([50, 50], (total) => makeBatch(total))
      const all = Array.from(
        { length: 50 },
        (_, index) => count((index % 2 === 0 ? ids : ids.toReversed()).flatMap((id) => moves(id, "sent")))
      )
      yield* Effect.all(all, { concurrency: "unbounded" })
      for (const id of ids) assert.deepInclude(yield* counted(id), { status: "completed", sent: 50 })
    }))
})
