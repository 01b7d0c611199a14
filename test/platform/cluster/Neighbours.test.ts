import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import * as Neighbours from "../../../src/platform/cluster/Neighbours.ts"
import { freePort } from "../../support/freePort.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { eventually } from "../../support/waiting.ts"

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

const register = Effect.fnUntraced(function*(address: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into cluster_runners (address, runner) values (${address}, '{}')`
})

const registered = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`select address from cluster_runners order by address`).map(({ address }) => address)
})

layer(Tables, { excludeTestServices: true })("Neighbours", (it) => {
  it.effect("deletes a node that refuses twice, and keeps one that listens and itself", () =>
    Effect.gen(function*() {
      const server = yield* listening
      const at = server.address()
      const alive = `127.0.0.1:${typeof at === "object" ? at?.port : ""}`
      const [self, dead] = [`127.0.0.1:${yield* freePort}`, `127.0.0.1:${yield* freePort}`]
      for (const address of [alive, self, dead]) yield* register(address)
      const { check } = yield* Neighbours.make(self)
      yield* check
      assert.lengthOf(yield* registered, 3)
      const left = yield* eventually(Effect.andThen(check, registered), ({ length }) => length === 2)
      assert.deepStrictEqual(left, [alive, self].toSorted())
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from cluster_runners`
    }).pipe(Effect.scoped))

  it.effect("checks the next three nodes in the order of their addresses, around the end of the list", () =>
    Effect.gen(function*() {
      const dead = Array.from({ length: 6 }, (_, index) => `127.0.0.${index + 2}:1`)
      for (const address of dead) yield* register(address)
      const { check } = yield* Neighbours.make("127.0.0.6:1")
      yield* check
      yield* check
      assert.deepStrictEqual(yield* registered, ["127.0.0.4:1", "127.0.0.5:1", "127.0.0.6:1"])
    }))
})
