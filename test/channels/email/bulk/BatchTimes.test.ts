import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Batch } from "../../../../src/channels/email/bulk/Batch.ts"
import { BatchTimes } from "../../../../src/channels/email/bulk/BatchTimes.ts"
import { BulkEmail } from "../../../../src/channels/email/bulk/BulkEmail.ts"
import { ScheduledBatches } from "../../../../src/channels/email/bulk/ScheduledBatches.ts"
import { ScheduledQueues } from "../../../../src/messages/ScheduledQueues.ts"
import { AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase, transaction } from "../../../support/TestDatabase.ts"

const id = EmailBatchId.make(`email_batch_${"0".repeat(26)}`)

const batch: Batch = {
  batch_id: id,
  status: "scheduled",
  total: 1,
  queued: 1,
  sent: 0,
  failed: 0,
  suppressed: 0,
  canceled: 0,
  ...noLabels,
  mode: "live",
  send_at: null,
  created_at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
  started_at: null,
  completed_at: null,
  resent_as: null
}

const reads: Array<Batch["status"]> = ["scheduled", "processing"]

/** A batch that is released after its first read. */
const Released = Layer.mock(BulkEmail)({
  find: () => Effect.sync(() => ({ ...batch, status: reads.shift() ?? "processing" }))
})

layer(BatchTimes.layer.pipe(Layer.provide(Released), Layer.provideMerge(TestDatabase.layer)))("BatchTimes", (it) => {
  it.effect("refuses a batch that is released at the same time with the status that it has then", () =>
    Effect.gen(function*() {
      const { reschedule } = yield* BatchTimes
      const refused = yield* Effect.flip(reschedule(AccountId.make(1), id, "1970-01-02T00:00:00Z"))
      assert.strictEqual(refused.message, "The message is processing, so it cannot be changed.")
    }))
})

/** Scheduled until it is released. */
const Scheduled = Layer.mock(BulkEmail)({ find: () => Effect.succeed(batch), wake: () => Effect.void })

/** What releases batches. */
const release = Effect.gen(function*() {
  const registered = yield* Deferred.make<Effect.Effect<number>>()
  const queues = Layer.mock(ScheduledQueues)({ register: (_, effect) => Deferred.succeed(registered, effect) })
  yield* Layer.build(ScheduledBatches.pipe(Layer.provide([Scheduled, queues])))
  return yield* Deferred.await(registered)
})

layer(BatchTimes.layer.pipe(Layer.provide(Scheduled), Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("a new time", (it) => {
  it.effect("holds for a batch whose release has begun, and has not locked it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { reschedule } = yield* BatchTimes
      const { accountId } = yield* makeAccount()
      yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, status, send_at)
        values (${id}, ${accountId}, 'us@example.com', 's', 'h', 1, 'scheduled', now() - interval '1 minute')`
      const read = Effect.map(
        sql`select status, send_at > now() + interval '1 day' as is_later from email_batches where id = ${id}`,
        ([row]) => ({ ...row })
      )

      // A statement with this `now()` stops after its beginning, while the barrier is locked.
      const barrier = 179
      yield* sql`create schema slow`
      yield* sql.unsafe(`create function slow.now() returns timestamptz volatile language plpgsql as $$
        begin perform pg_advisory_xact_lock_shared(${barrier}); return pg_catalog.now(); end $$`)
      const opens = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(transaction(Effect.gen(function*() {
        yield* sql`select pg_advisory_xact_lock(${barrier})`
        yield* Deferred.succeed(closed, undefined)
        yield* Deferred.await(opens)
      })))
      yield* Deferred.await(closed)
      const releasing = yield* Effect.forkChild(Effect.flatMap(release, (released) =>
        transaction(Effect.andThen(sql`set local search_path = slow, pg_catalog, public`, released))))
      yield* eventually(
        sql`select from pg_locks where locktype = 'advisory' and not granted and objid = ${barrier}`,
        (rows) =>
          rows.length > 0
      )

      yield* reschedule(accountId, id, new Date(Date.now() + 172_800_000).toISOString())
      yield* Deferred.succeed(opens, undefined)
      yield* Fiber.join(holder)
      assert.strictEqual(yield* Fiber.join(releasing), 0)
      assert.deepStrictEqual(yield* read, { status: "scheduled", is_later: true })
    }).pipe(Effect.scoped))
})
