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
  (sql) => sql`select current_database() as name, current_setting('listen_addresses') as tcp`
)

layer(TestDatabase.TestDatabase.layer)("a test database", (it) => {
  it.effect("has all migrations", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Migrations.migrate(Migrations.directory), [])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("is reached by its DATABASE_URL too, though the server has no TCP port", () =>
    Effect.gen(function*() {
      const { database, url } = yield* TestDatabase.TestDatabase
      const here = yield* currentDatabase
      const there = yield* currentDatabase.pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
      assert.deepStrictEqual([here, there], [[{ name: database, tcp: "" }], [{ name: database, tcp: "" }]])
    }))
})

it.effect("is gone with its scope, even while somebody is connected", () =>
  Effect.gen(function*() {
    const database = yield* Effect.scoped(
      Effect.gen(function*() {
        const { database, path, username } = yield* TestDatabase.make("template1")
        const client = yield* PgClient.makeClient({ database, path, username })
        yield* client`select 1`
        return database
      })
    ).pipe(Effect.provide(Reactivity.layer))
    const { path, username } = yield* TestDatabase.make("template1")
    const left = yield* Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`select datname from pg_database where datname = ${database}`
    ).pipe(Effect.provide(PgClient.layer({ database: "postgres", path, username })))
    assert.deepStrictEqual(left, [])
  }))
