import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as Query from "../../../src/platform/database/Query.ts"
import { isDatabaseUnavailable } from "../../../src/platform/database/unavailable.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

class Taken extends Schema.TaggedError<Taken>()("Taken", {}) {}

const Row = Schema.Struct({ n: Schema.Int })

const defectOf = <A>(effect: Effect.Effect<A>) => Effect.map(Effect.sandbox(effect).pipe(Effect.flip), Cause.squash)

layer(TestDatabase.layer, { excludeTestServices: true })("Query", (it) => {
  it.effect("each form of a query returns its rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const execute = (n: number) => sql`select * from generate_series(1, ${n}::integer) as t (n)`
      const select = { Request: Schema.Int, Result: Row, execute }
      assert.deepStrictEqual(yield* Query.findAll(select)(2), [{ n: 1 }, { n: 2 }])
      assert.deepStrictEqual(yield* Query.findOne(select)(2), { n: 1 })
      assert.deepStrictEqual(yield* Query.findOneOption(select)(0), Option.none())
      assert.isUndefined(yield* Query.void(select)(2))
      assert.isUndefined(yield* Query.run(sql`select 1`))
    }))

  it.effect("a query dies if the statement, the decoding or the first row fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const wrong = Query.findAll({ Request: Schema.Void, Result: Row, execute: () => sql`select 'one' as n` })
      const none = Query.findOne({ Request: Schema.Void, Result: Row, execute: () => sql`select 1 as n where false` })
      assert.isTrue(SqlError.isSqlError(yield* defectOf(Query.run(sql`select 1 / 0`))))
      assert.isTrue(Schema.isSchemaError(yield* defectOf(wrong())))
      assert.isTrue(Cause.isNoSuchElementError(yield* defectOf(none())))
    }))

  it.effect("the defect of a query tells whether the database is unavailable", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const causeOf = (exit: Exit.Exit<void>) => Exit.isFailure(exit) ? exit.cause : Cause.empty
      const ended = yield* Effect.exit(Query.run(sql`select pg_terminate_backend(pg_backend_pid())`))
      const wrong = yield* Effect.exit(Query.run(sql`select 1 / 0`))
      assert.isTrue(isDatabaseUnavailable(causeOf(ended)))
      assert.isFalse(isDatabaseUnavailable(causeOf(wrong)))
    }))

  it.effect("a statement can turn a unique violation into a typed error", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table names (name text primary key)`
      const insert = Query.void({
        Request: Schema.String,
        execute: (name) =>
          sql`insert into names values (${name})`.pipe(
            Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new Taken()))
          )
      })
      yield* insert("a")
      assert.instanceOf(yield* Effect.flip(insert("a")), Taken)
    }))
})
