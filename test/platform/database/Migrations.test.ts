import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as NodeFs from "node:fs"
import * as schema from "../../../scripts/schema.ts"
import { MigrationMisnamed } from "../../../src/platform/database/MigrationErrors.ts"
import * as Migrations from "../../../src/platform/database/Migrations.ts"
import * as PgCodecs from "../../../src/platform/database/PgCodecs.ts"
import { foreignPrograms, foreignServer } from "../../support/foreignServer.ts"
import { eventually } from "../../support/Service.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { inPatience, longer } from "../../support/waiting.ts"

const first = `
-- a comment; with a semicolon and a ' quote
create table places (id integer primary key, name text default 'it''s; here');
create function twice(n integer) returns integer language plpgsql as $$
begin
  return n * 2; -- $body$
end $$;
insert into places (id) select twice(21);
/* create table never (id integer); */
`
const second = "alter table places add column height integer; update places set height = id * 2"

/** A directory with these files. Writing another one replaces it. */
const directoryOf = Effect.fnUntraced(function*(files: Record<string, string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectoryScoped()
  yield* Effect.forEach(Object.entries(files), ([name, content]) => fs.writeFileString(`${path}/${name}`, content))
  return path
})

const write = (path: string, content: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, content))

const remove = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.remove(path))

/** A database without tables for each test. */
const Empty = Layer.unwrap(
  Effect.map(
    TestDatabase.make("template1"),
    ({ database, host, port, username }) =>
      PgClient.layer({
        database,
        host,
        port,
        username,
        maxConnections: 20,
        connectTimeout: longer.start,
        types: PgCodecs.registry
      })
  )
).pipe(Layer.merge(NodeFileSystem.layer))

const rowsOf = (statement: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

describe("migrate", () => {
  it.effect("migrate runs each file once, in order, with any statements", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0002_height.sql": second, "0001_places.sql": first })
      assert.deepStrictEqual(yield* Migrations.migrate(path), ["0001_places.sql", "0002_height.sql"])
      assert.deepStrictEqual(yield* Migrations.migrate(path), [])
      assert.deepStrictEqual(yield* rowsOf("select * from places"), [{ id: 42, name: "it's; here", height: 84 }])
      const records = yield* rowsOf("select name, length(sha256) as length from migrations order by name")
      assert.deepStrictEqual(records, [
        { name: "0001_places.sql", length: 64 },
        { name: "0002_height.sql", length: 64 }
      ])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate runs each file on exactly one of several nodes that start at once", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({
        "0001_places.sql": first,
        "0002_height.sql": second,
        "0003_wait.sql": "insert into places (id) values (1); select pg_sleep(0.05)",
        "0004_empty.sql": "-- nothing to do"
      })
      const ran = yield* Effect.all(Array.from({ length: 8 }, () => Migrations.migrate(path)), { concurrency: 8 })
      assert.deepStrictEqual(ran.flat().sort(), yield* Migrations.names(path))
      assert.deepStrictEqual(yield* rowsOf("select count(*) as count from places"), [{ count: 2 }])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate applies nothing of a file that fails, keeps the files before it and names the fault", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0001_places.sql": first })
      yield* Migrations.migrate(path)
      yield* write(`${path}/0002_wrong.sql`, "create table ghosts (id integer);\n\nselect nonsense from places")
      const error = yield* Effect.flip(Migrations.migrate(path))
      assert.strictEqual(
        error.message,
        "The migration 0002_wrong.sql, line 3 failed: column \"nonsense\" does not exist"
      )
      const [found] = yield* rowsOf(
        "select to_regclass('ghosts') as ghosts, to_regclass('places') is not null as places"
      )
      assert.deepStrictEqual(found, { ghosts: null, places: true })
      yield* write(`${path}/0002_wrong.sql`, "select 1")
      assert.deepStrictEqual(yield* Migrations.migrate(path), ["0002_wrong.sql"])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate gives an empty database the sum instead of the files, and later ones the new files", () =>
    Effect.gen(function*() {
      const sum = "create table places (id integer primary key, height integer);"
      const path = yield* directoryOf({
        "0001_places.sql": first,
        "0002_height.sql": second,
        [Migrations.sumName]: `${Migrations.sumHeader("0002_height.sql")}${sum}`
      })
      assert.deepStrictEqual(yield* Migrations.migrate(path), ["0001_places.sql", "0002_height.sql"])
      assert.deepStrictEqual(yield* rowsOf("select count(*) as count from places"), [{ count: 0 }])
      assert.deepStrictEqual(yield* Migrations.migrate(path), [])
      yield* write(`${path}/0003_width.sql`, "alter table places add column width integer")
      assert.deepStrictEqual(yield* Migrations.migrate(path), ["0003_width.sql"])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate runs the files on an empty database if the sum lacks the last one", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({
        "0001_places.sql": first,
        "0002_height.sql": second,
        [Migrations.sumName]: `${Migrations.sumHeader("0001_places.sql")}${first}`
      })
      assert.deepStrictEqual(yield* Migrations.migrate(path), ["0001_places.sql", "0002_height.sql"])
      assert.deepStrictEqual(yield* rowsOf("select height from places"), [{ height: 84 }])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate leaves an empty database empty if the sum fails", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({
        "0001_places.sql": first,
        [Migrations.sumName]: `${Migrations.sumHeader("0001_places.sql")}create table places ();\nselect nonsense`
      })
      assert.include((yield* Effect.flip(Migrations.migrate(path))).message, "schema.sql, line 3")
      const [found] = yield* rowsOf("select to_regclass('places') as places, to_regclass('migrations') as migrations")
      assert.deepStrictEqual(found, { places: null, migrations: null })
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate names the line of a syntax error", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0001_typo.sql": "create table a (id integer);\ncreate tabel b (id integer);" })
      const error = yield* Effect.flip(Migrations.migrate(path))
      assert.strictEqual(
        error.message,
        "The migration 0001_typo.sql, line 2 failed: syntax error at or near \"tabel\""
      )
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate does not let a file end its transaction", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0001_commit.sql": "create table ghosts (id integer); commit;" })
      const error = yield* Effect.flip(Migrations.migrate(path))
      assert.strictEqual(error._tag, "MigrationFailed")
      assert.deepStrictEqual(yield* rowsOf("select to_regclass('ghosts') as ghosts"), [{ ghosts: null }])
    }).pipe(Effect.provide(Empty)))

  it.live("migrate lets writers pass while a session keeps it from a table, and runs when that session has ended", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const path = yield* directoryOf({ "0001_places.sql": first })
      yield* Migrations.migrate(path)
      yield* write(`${path}/0002_height.sql`, second)
      const reads = yield* Deferred.make<void>()
      const letGo = yield* Deferred.make<void>()
      // Like pg_dump.
      const dump = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`select from places`
        yield* Deferred.succeed(reads, undefined)
        yield* Deferred.await(letGo)
      })))
      yield* Deferred.await(reads)
      const migrating = yield* Effect.forkChild(Migrations.migrate(path))
      const waiting = sql`select from pg_locks where not granted and relation = 'places'::regclass`
      yield* eventually(waiting, ({ length }) => length === 1)
      yield* inPatience(sql`insert into places (id) values (1)`, () => "an insert that waits")
      assert.isUndefined(migrating.pollUnsafe())
      yield* Deferred.succeed(letGo, undefined)
      yield* Fiber.join(dump)
      assert.deepStrictEqual(yield* Fiber.join(migrating), ["0002_height.sql"])
      assert.deepStrictEqual(yield* sql`select height from places where id = 1`, [{ height: 2 }])
    }).pipe(Effect.provide(Empty)))

  it.live("migrate runs a file again that PostgreSQL ended in a deadlock", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const path = yield* directoryOf({ "0001_pair.sql": "create table one (id int); create table two (id int);" })
      yield* Migrations.migrate(path)
      yield* write(
        `${path}/0002_marks.sql`,
        "alter table one add column mark int; alter table two add column mark int;"
      )
      const reads = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      // Takes the tables in the opposite order, and is not the one that PostgreSQL ends.
      const node = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`set local deadlock_timeout = '60s'`
        yield* sql`select from two`
        yield* Deferred.succeed(reads, undefined)
        yield* Deferred.await(goOn)
        yield* sql`insert into one (id) values (1)`
      })))
      yield* Deferred.await(reads)
      const migrating = yield* Effect.forkChild(Migrations.migrate(path))
      const waiting = sql`select from pg_locks where not granted and relation = 'two'::regclass`
      yield* eventually(waiting, ({ length }) => length === 1)
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(node)
      assert.deepStrictEqual(yield* Fiber.join(migrating), ["0002_marks.sql"])
      assert.deepStrictEqual(yield* sql`select id, mark from one`, [{ id: 1, mark: null }])
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate stops with one sentence when a table stays in use for a minute", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({
        "0001_blocked.sql": "do $$ begin raise exception 'locked' using errcode = '55P03'; end $$"
      })
      const migrating = yield* Effect.forkChild(Effect.flip(Migrations.migrate(path)))
      const tries = rowsOf("select 1")
      yield* Effect.repeat(Effect.andThen(tries, TestClock.adjust("1 second")), {
        until: () => migrating.pollUnsafe() !== undefined
      })
      const error = yield* Fiber.join(migrating)
      assert.strictEqual(
        error.message,
        "The migration 0001_blocked.sql needs a table that another session uses, such as pg_dump or a long transaction. "
          + "End that session, or start again when it has ended."
      )
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate stops with one sentence if a file that has run was changed", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0001_places.sql": first })
      yield* Migrations.migrate(path)
      yield* write(`${path}/0001_places.sql`, `${first}\n`)
      const error = yield* Effect.flip(Migrations.migrate(path))
      assert.strictEqual(
        error.message,
        "The migration 0001_places.sql has already run on this database and was changed since: "
          + "restore it, and put the change into a new file."
      )
    }).pipe(Effect.provide(Empty)))

  it.effect("migrate runs nothing on a database that a later version has migrated", () =>
    Effect.gen(function*() {
      const path = yield* directoryOf({ "0001_places.sql": first, "0002_height.sql": second })
      yield* Migrations.migrate(path)
      yield* remove(`${path}/0002_height.sql`)
      const error = yield* Effect.flip(Migrations.migrate(path))
      assert.strictEqual(
        error.message,
        "The database is newer than this program: it has run 0002_height.sql, which this version does not know. "
          + "Start the newer version, or restore a backup made before the upgrade."
      )
    }).pipe(Effect.provide(Empty)))

  for (const name of ["1_places.sql", "0001-places.sql", "0001_twin.sql"]) {
    it.effect(`migrate refuses the name ${name} beside 0001_places.sql`, () =>
      Effect.gen(function*() {
        const path = yield* directoryOf({ "0001_places.sql": first, [name]: second })
        const error = yield* Effect.flip(Migrations.names(path))
        assert.deepStrictEqual(error, new MigrationMisnamed({ file: error.file }))
      }).pipe(Effect.provide(NodeFileSystem.layer)))
  }
})

const ours = NodeFs.readdirSync(Migrations.directory).filter((name) => /^\d/.test(name))
const sum = NodeFs.readFileSync(schema.path, "utf8")

/** What sql/schema.sql does not show: the records, and the partitions of two days with their bounds and indexes. */
const details = [
  "select name, sha256 from migrations order by name",
  `select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound, c.reloptions,
      (select array_agg(row (attname, atttypid, attnotnull, attstorage)::text order by attname) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      (select array_agg(row (indisunique, regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+', ''))::text
        order by regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+', '')) from pg_index where indrelid = c.oid) as indexes
    from pg_class c
    where c.relispartition and c.relkind = 'r'
      and right(c.relname, 8) in (to_char(now() at time zone 'UTC', 'YYYYMMDD'),
        to_char(now() at time zone 'UTC' - interval '1 day', 'YYYYMMDD'))
    order by c.relname`
]

/** Nodes of the version before run on the new schema. These files are older than the first release. */
const takesAway = ["0009_webhook_queue.sql", "0027_whatsapp_outbox.sql"]

describe("the migrations of this program", () => {
  it("a migration takes nothing away that nodes of the version before read or write", () => {
    const away = /\b(?:drop (?:table|column|view|function)|rename|set not null|alter column \w+ (?:set data )?type)\b/i
    const demands = /\badd column [^,;]*\bnot null\b(?![^,;]*\bdefault\b)/i
    const files = ours.filter((name) => {
      const text = NodeFs.readFileSync(`${Migrations.directory}/${name}`, "utf8").replaceAll(/--.*$/gm, "")
      return away.test(text) || demands.test(text)
    })
    assert.deepStrictEqual(files, takesAway)
  })

  it.effect("the migrations create the schema in sql/schema.sql (generated by: node scripts/schema.ts)", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* schema.migrateWithoutSum, ours)
      assert.strictEqual(sum, yield* schema.dump())
    }).pipe(Effect.provide(Empty)))

  it.effect("sql/schema.sql creates the same tables, rows, records and partitions as the migrations", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Migrations.migrate(Migrations.directory), ours)
      assert.strictEqual(yield* schema.dump(), sum)
      const created = yield* Effect.forEach(details, rowsOf)
      yield* schema.migrateWithoutSum.pipe(
        Effect.andThen(Effect.forEach(details, rowsOf)),
        Effect.map((found) => assert.deepStrictEqual(created, found)),
        Effect.provide(Layer.fresh(Empty))
      )
    }).pipe(Effect.provide(Empty)))

  // Runs only if another PostgreSQL is installed, because the embedded one is the newest.
  it.live.skipIf(foreignPrograms === undefined)(
    `the migrations give the same schema on an older PostgreSQL (${
      foreignPrograms ?? "SKIPPED: none installed in /usr/lib/postgresql"
    })`,
    () =>
      Effect.gen(function*() {
        yield* Migrations.migrate(Migrations.directory)
        const newest = yield* schema.dump()
        const socket = yield* foreignServer(foreignPrograms ?? "")
        const oldest = yield* Migrations.migrate(Migrations.directory).pipe(
          Effect.andThen(schema.dump()),
          Effect.provide(PgClient.layer({ path: socket, username: "postgres", types: PgCodecs.registry }))
        )
        assert.strictEqual(oldest, newest)
      }).pipe(Effect.provide(Empty))
  )
})
