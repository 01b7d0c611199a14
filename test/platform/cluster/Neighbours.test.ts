import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import { makeWatch } from "../../../src/platform/cluster/Neighbours.ts"
import { freePort } from "../../support/freePort.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Tables = SqlRunnerStorage.layer.pipe(
  Layer.provide(ShardingConfig.layerDefaults),
  Layer.provideMerge(TestDatabase.layer)
)

const listening = Effect.acquireRelease(
  Effect.callback<NodeNet.Server>((resume) => {
    const server = NodeNet.createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

const enter = Effect.fnUntraced(function*(address: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into cluster_runners (address, runner) values (${address}, '{}')`
})

const entered = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`select address from cluster_runners order by address`).map(({ address }) => address)
})

layer(Tables, { excludeTestServices: true })("a node that looks after its neighbours", (it) => {
  it.effect("takes out who refuses twice, and neither who listens nor itself", () =>
    Effect.gen(function*() {
      const server = yield* listening
      const at = server.address()
      const alive = `127.0.0.1:${typeof at === "object" ? at?.port : ""}`
      const [self, dead] = [`127.0.0.1:${yield* freePort}`, `127.0.0.1:${yield* freePort}`]
      for (const address of [alive, self, dead]) yield* enter(address)
      const { look } = yield* makeWatch(self)
      yield* look
      assert.lengthOf(yield* entered, 3)
      yield* look
      assert.deepStrictEqual(yield* entered, [alive, self].toSorted())
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from cluster_runners`
    }).pipe(Effect.scoped))

  it.effect("looks after the next three in the order of their addresses, around the end of the list", () =>
    Effect.gen(function*() {
      const nobody = Array.from({ length: 6 }, (_, index) => `127.0.0.${index + 2}:1`)
      for (const address of nobody) yield* enter(address)
      const { look } = yield* makeWatch("127.0.0.6:1")
      yield* look
      yield* look
      assert.deepStrictEqual(yield* entered, ["127.0.0.4:1", "127.0.0.5:1", "127.0.0.6:1"])
    }))
})
