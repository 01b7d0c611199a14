import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Entity, ShardId, Sharding, ShardingConfig } from "effect/cluster"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { ActiveBatches } from "../../../../src/channels/email/bulk/ActiveBatches.ts"
import { BatchActor } from "../../../../src/channels/email/bulk/BatchActor.ts"
import { BatchDispatch } from "../../../../src/channels/email/bulk/BatchDispatch.ts"
import { BatchEntity } from "../../../../src/channels/email/bulk/BatchEntity.ts"
import { BatchMailer } from "../../../../src/channels/email/bulk/BatchMailer.ts"
import { BulkEmail } from "../../../../src/channels/email/bulk/BulkEmail.ts"
import { BulkThrottle } from "../../../../src/channels/email/recipients/BulkThrottle.ts"
import { MessageProgress } from "../../../../src/channels/email/recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { ulid } from "../../../../src/platform/crypto/ids.ts"
import { EmailBatchId } from "../../../../src/values/Ids.ts"
import { OpenRelay } from "../../../simulation/mail.ts"
import { Settings } from "../../../simulation/services.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const unavailable = SqlError.SqlError.make({
  reason: SqlError.ConnectionError.make({ cause: undefined, message: "gone", operation: "query" })
})

const state = { mayReclaim: false, asked: 0, isUnavailable: false, waits: 0 }

const wait = Effect.suspend(() => {
  state.waits++
  return Effect.sleep("1 second")
})

/** The poll of the node may find an outage when it passes small batches on. */
const Dispatch = Layer.mock(BatchDispatch)({
  room: { signal: Effect.void, signalUnsafe: () => undefined, wait: () => wait },
  withdraw: () => Effect.succeed([]),
  resume: () => Effect.suspend(() => state.isUnavailable ? Effect.die(unavailable) : Effect.void)
})

const NoShards = Layer.mock(Sharding.Sharding)({
  getShardId: () => ShardId.make("default", 1),
  hasShardId: () => false
})

const Actor = Layer.mergeAll(
  Layer.mock(ActiveBatches)({
    hasRoom: Effect.succeed(true),
    run: (_, work) => work,
    mayReclaim: Effect.sync(() => {
      state.asked++
      return state.mayReclaim
    })
  }),
  Layer.mock(BatchMailer)({
    open: () => Effect.succeed(() => Effect.succeed({ subject: "s", outcome: { _tag: "Accepted" } }))
  }),
  Layer.mock(BulkThrottle)({ acquire: () => Effect.void }),
  Layer.mock(BulkEmail)({ complete: () => Effect.void }),
  Dispatch,
  OpenRelay,
  Layer.mock(MessageProgress)({ publishFailed: () => Effect.void }),
  Layer.mock(RecipientOutcomes)({ record: () => Effect.void }),
  Settings,
  ShardingConfig.layer()
)

layer(TestDatabase.layer, { excludeTestServices: true })("BatchActor", (it) => {
  it.effect("reclaims recipients whose lease has expired, unless its node has just seen an outage of the database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
      yield* sql`insert into email_batches (id, account_id, shard, from_address, subject, html, total, status)
        values (${id}, ${accountId}, 1, 'us@example.com', 's', 'h', 1, 'processing')`
      yield* sql`insert into email_messages (account_id, batch_id, position, recipient, status, due_at)
        values (${accountId}, ${id}, 0, 'user@example.com', 'sending', now() - interval '12 seconds')`
      const attempts = Effect.map(
        sql`select attempt_count from email_messages where batch_id = ${id}`,
        ([row]) => row?.["attempt_count"]
      )
      const client = yield* Entity.makeTestClient(BatchEntity, BatchActor)
      yield* Effect.forkScoped((yield* client(id)).Wake())
      yield* eventually(Effect.sync(() => state.asked), (asked) => asked > 1)
      assert.strictEqual(yield* attempts, 0)
      state.mayReclaim = true
      yield* eventually(attempts, (count) => count === 1)
    }).pipe(Effect.scoped, Effect.provide(Actor)))
})

layer(TestDatabase.layer)("ActiveBatches", (it) => {
  it.effect("lets actors reclaim nothing until ten seconds after the last poll that found the database away", () =>
    Effect.gen(function*() {
      const { mayReclaim, poll } = yield* ActiveBatches
      yield* Effect.forkScoped(poll(() => Effect.void))
      yield* eventually(Effect.sync(() => state.waits), (waits) => waits === 1)
      /** Lets so many polls run, one each second. */
      const pass = Effect.fnUntraced(function*(count: number) {
        for (let left = count; left > 0; left--) {
          const before = state.waits
          yield* TestClock.adjust("1 second")
          yield* eventually(Effect.sync(() => state.waits), (waits) => waits > before)
        }
      })
      yield* pass(1)
      assert.isTrue(yield* mayReclaim)
      state.isUnavailable = true
      yield* pass(12)
      state.isUnavailable = false
      yield* pass(9)
      assert.isFalse(yield* mayReclaim)
      yield* pass(1)
      assert.isTrue(yield* mayReclaim)
    }).pipe(
      Effect.scoped,
      Effect.provide(ActiveBatches.layer.pipe(Layer.provide([Dispatch, OpenRelay, NoShards])))
    ))
})
