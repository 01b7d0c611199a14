import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../src/platform/database/Migrations.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const currentDatabase = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`select current_database() as name`
)

layer(TestDatabase.TestDatabase.layer)("TestDatabase", (it) => {
  it.effect("a test database has all migrations", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Migrations.migrate(Migrations.directory), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("a test database is reachable by its DATABASE_URL", () =>
    Effect.gen(function*() {
      const { database, url } = yield* TestDatabase.TestDatabase
      const here = yield* currentDatabase
      const there = yield* currentDatabase.pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
      assert.deepStrictEqual([here, there], [[{ name: database }], [{ name: database }]])
    }))
})

it.effect("a test database is dropped with its scope, even while a client is connected", () =>
  Effect.gen(function*() {
    const database = yield* Effect.scoped(
      Effect.gen(function*() {
        const { database, host, port, username } = yield* TestDatabase.make("template1")
        const client = yield* PgClient.makeClient({ database, host, port, username })
        yield* client`select 1`
        return database
      })
    ).pipe(Effect.provide(Reactivity.layer))
    const { host, port, username } = yield* TestDatabase.make("template1")
    const left = yield* Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`select datname from pg_database where datname = ${database}`
    ).pipe(Effect.provide(PgClient.layer({ database: "postgres", host, port, username })))
    assert.deepStrictEqual(left, [])
  }))
