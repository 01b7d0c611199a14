import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseAddress } from "../../../src/platform/database/Database.ts"
import { UpstreamOutages } from "../../../src/platform/work/UpstreamOutages.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { eventually, inPatience } from "../../support/waiting.ts"

const Address = Layer.effect(
  DatabaseAddress,
  Effect.map(
    TestDatabase,
    ({ url }) => DatabaseAddress.of({ connection: { url: Redacted.make(url) }, isEmbedded: false })
  )
)

const Layers = UpstreamOutages.layer.pipe(Layer.provide(Address), Layer.provideMerge(TestDatabase.layer))

layer(Layers, { excludeTestServices: true })("UpstreamOutages", (it) => {
  it.effect("tells requests what is away also while its own writes hold all connections of the maintenance", () =>
    Effect.gen(function*() {
      const { current, watch } = yield* UpstreamOutages
      const sql = yield* SqlClient.SqlClient
      yield* watch("relay", Effect.succeed("away"))
      yield* watch("carrier", Effect.succeed("away"))
      yield* eventually(current, ({ length }) => length === 2)
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`lock table upstream_outages in share mode`
        const waiting = sql`select from pg_locks where relation = 'upstream_outages'::regclass and not granted`
        yield* eventually(waiting, ({ length }) => length === 2)
        const found = yield* inPatience(current, () => "no answer")
        assert.sameMembers(found.map(({ upstream }) => upstream), ["relay", "carrier"])
      }))
    }).pipe(Effect.scoped))
})
