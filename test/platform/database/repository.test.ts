import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { repository } from "../../../src/platform/database/repository.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

describe("the statements of a table", () => {
  it.effect("are made once for all who share a client, in a transaction too, and anew for another client", () =>
    Effect.gen(function*() {
      let times = 0
      const make = repository(Effect.sync(() => ({ number: ++times })))
      const sql = yield* SqlClient.SqlClient
      const first = yield* make
      assert.strictEqual(yield* make, first)
      assert.strictEqual(yield* sql.withTransaction(make), first)
      assert.deepStrictEqual(yield* Effect.provide(make, Layer.fresh(TestDatabase.layerClient)), { number: 2 })
    }).pipe(Effect.provide(TestDatabase.layer)))
})
