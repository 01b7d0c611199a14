import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Data, Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { DatabaseAddress } from "../../../src/platform/database/Database.ts"
import { QuickWrites } from "../../../src/platform/work/QuickWrites.ts"
import { TestDatabase, transaction } from "../../support/TestDatabase.ts"

const Address = Layer.effect(
  DatabaseAddress,
  Effect.map(
    TestDatabase,
    ({ url }) => DatabaseAddress.of({ connection: { url: Redacted.make(url) }, isEmbedded: false })
  )
)

class Unwanted extends Data.TaggedError("Unwanted") {}

const Settings = AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))

const Layers = QuickWrites.layer.pipe(
  Layer.provide([Address, Settings]),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Layers, { excludeTestServices: true })("quick writes", (it) => {
  /** Inserts numbers at the same time, and tells each outcome and the transactions of the rows. */
  const inserted = Effect.fnUntraced(function*(numbers: ReadonlyArray<number>) {
    const sql = yield* SqlClient.SqlClient
    const { rows } = yield* QuickWrites
    yield* sql`create table if not exists numbers (n integer primary key check (n >= 0))`
    const outcomes = yield* Effect.forEach(
      numbers,
      (n) => Effect.exit(rows("insert into numbers values ($1) returning n", [n])),
      { concurrency: "unbounded" }
    )
    const stored = yield* sql`select n, xmin::text as transaction from numbers where n = any(${numbers}) order by n`
    return { outcomes, stored, transactions: new Set(stored.map(({ transaction }) => transaction)).size }
  })

  it.effect("concurrent writes share transactions, and each gets its rows", () =>
    Effect.gen(function*() {
      const numbers = Array.from({ length: 40 }, (_, index) => index)
      const { outcomes, stored, transactions } = yield* inserted(numbers)
      assert.deepStrictEqual(outcomes, numbers.map((n) => Exit.succeed([{ n }])))
      assert.lengthOf(stored, 40)
      assert.isBelow(transactions, 20)
    }))

  it.effect("a write that fails fails no other", () =>
    Effect.gen(function*() {
      const { outcomes, stored } = yield* inserted([100, 101, -1, 102, 101, 103])
      assert.deepStrictEqual(outcomes.map(Exit.isSuccess), [true, true, false, true, false, true])
      assert.deepStrictEqual(stored.map(({ n }) => n), [100, 101, 102, 103])
    }))

  it.effect("a write in a transaction is rolled back with it", () =>
    Effect.gen(function*() {
      const { rows } = yield* QuickWrites
      yield* Effect.flip(transaction(Effect.andThen(
        rows("insert into numbers values ($1) returning n", [200]),
        Effect.fail(new Unwanted())
      )))
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`select from numbers where n = 200`, 0)
    }))
})
