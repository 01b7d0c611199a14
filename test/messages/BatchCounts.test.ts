import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as BatchCounts from "../../src/messages/BatchCounts.ts"
import { MessageBatchId } from "../../src/values/Ids.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

let serial = 0

/** A batch of so many messages. */
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

layer(TestDatabase.layer)("a batch of messages", (it) => {
  it.effect("counts what was sent and what failed, and is completed by the last one", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(4)
      yield* count([...moves(id, "sent", 2), ...moves(id, "failed"), ...moves(id, undefined), ...moves(null, "sent")])
      const under = { status: "processing", sent: 2, failed: 1, started: true, completed: false }
      assert.deepStrictEqual(yield* counted(id), under)
      yield* count(moves(id, "failed"))
      assert.deepStrictEqual(yield* counted(id), { ...under, status: "completed", failed: 2, completed: true })
    }))

  it.effect("has failed when all of its messages have", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(2)
      yield* count(moves(id, "failed", 2))
      assert.deepInclude(yield* counted(id), { status: "failed", sent: 0, failed: 2, completed: true })
    }))

  it.effect("stays canceled while what was under way comes to its end", () =>
    Effect.gen(function*() {
      const count = yield* BatchCounts.make
      const id = yield* makeBatch(5, 3)
      yield* count(moves(id, "sent"))
      assert.deepInclude(yield* counted(id), { status: "canceled", sent: 1, completed: false })
      yield* count(moves(id, "sent"))
      assert.deepInclude(yield* counted(id), { status: "canceled", sent: 2, completed: true })
    }))

  it.effect("is counted with others by many at the same time, whatever order they are named in", () =>
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
