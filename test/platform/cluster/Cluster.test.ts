import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { ShardingConfig, SqlMessageStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { pruneMessages, withoutStartupNoise } from "../../../src/platform/cluster/Cluster.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Tables = SqlMessageStorage.layer.pipe(
  Layer.provide([ShardingConfig.layerDefaults, NodeCrypto.layerDigest]),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Tables)("pruneMessages", (it) => {
  it.effect("deletes messages answered more than a day ago with their replies, and nothing else", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const message = (id: number, processed: boolean, age: string) =>
        sql`insert into cluster_messages (id, message_id, shard_id, entity_type, entity_id, kind, processed, request_id, last_read)
          values (${id}, ${`m${id}`}, 'default:1', 'EmailBatch', 'b', 0, ${processed}, ${id}, now() - ${age}::interval)`
      yield* message(1, true, "25 hours")
      yield* message(2, true, "23 hours")
      yield* message(3, false, "30 days")
      for (const id of [1, 2]) {
        yield* sql`insert into cluster_replies (id, request_id, kind, payload) values (${id + 10}, ${id}, 0, '{}')`
      }
      yield* pruneMessages
      const left = yield* sql`select id::int from cluster_messages order by id`
      assert.deepStrictEqual(left.map(({ id }) => id), [2, 3])
      const replies = yield* sql`select request_id::int as id from cluster_replies`
      assert.deepStrictEqual(replies.map(({ id }) => id), [2])
    }))
})

describe("withoutStartupNoise", () => {
  it.effect("drops expected warnings alone, also those of fibers that the layer forks", () =>
    Effect.gen(function*() {
      const said: Array<unknown> = []
      const collecting = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      const talk = Effect.gen(function*() {
        yield* Effect.logWarning("No healthy runners available")
        yield* Effect.logWarning("Could not acquire/release shards")
        yield* Effect.logWarning("Could not find entity manager for address, retrying")
      })
      const talking = Layer.effectDiscard(Effect.andThen(talk, Effect.forkScoped(talk)))
      yield* Layer.build(withoutStartupNoise(talking).pipe(Layer.provide(collecting)))
      yield* Effect.yieldNow
      assert.deepStrictEqual(said.flat(), ["Could not acquire/release shards", "Could not acquire/release shards"])
      yield* Effect.logWarning("No healthy runners available").pipe(Effect.provide(collecting))
      assert.lengthOf(said, 3)
    }).pipe(Effect.scoped))
})
