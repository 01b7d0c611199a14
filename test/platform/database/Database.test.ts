import { assert, layer } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../../../src/platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../src/platform/database/unavailable.ts"
import { GroupCommit } from "../../../src/platform/work/GroupCommit.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { eventually } from "../../support/waiting.ts"

class Unwanted extends Data.TaggedError("Unwanted") {}

/** A table for one test, and the number of rows that the wake-up sees. */
const table = (name: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`create table ${sql(name)} (n integer)`
    const count = Effect.map(sql`select count(*) as n from ${sql(name)}`, ([row]) => Number(row?.["n"]))
    const seen = yield* Deferred.make<number>()
    const wakeUp = Effect.orDie(Effect.flatMap(count, (n) => Effect.asVoid(Deferred.succeed(seen, n))))
    return { sql, insert: sql`insert into ${sql(name)} values (1)`, count, wakeUp, seen, ...(yield* Database) }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("Database", (it) => {
  it.effect("a wake-up runs after the outermost transaction commits, when others can see its rows", () =>
    Effect.gen(function*() {
      const { afterCommit, insert, seen, transaction, wakeUp } = yield* table("woken")
      yield* transaction(Effect.gen(function*() {
        yield* insert
        yield* transaction(Effect.andThen(insert, afterCommit(wakeUp)))
        yield* insert
        assert.isFalse(yield* Deferred.isDone(seen))
      }))
      assert.strictEqual(yield* Deferred.await(seen), 3)
    }))

  it.effect("a wake-up runs even if the caller is interrupted during the commit", () =>
    Effect.gen(function*() {
      const { afterCommit, count, insert, seen, sql, transaction, wakeUp } = yield* table("interrupted")
      yield* sql`create function commit_slowly() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(4711); return null; end'`
      yield* sql`create constraint trigger slow after insert on interrupted deferrable initially deferred
        for each row execute function commit_slowly()`
      const held = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      yield* Effect.forkScoped(sql.withTransaction(Effect.andThen(
        sql`select pg_advisory_xact_lock(4711)`,
        Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(over))
      )))
      yield* Deferred.await(held)
      const writer = yield* Effect.forkScoped(transaction(Effect.andThen(insert, afterCommit(wakeUp))))
      yield* eventually(
        sql`select from pg_stat_activity where query ilike 'commit%' and wait_event = 'advisory'`,
        (rows) => rows.length === 1
      )
      const interrupting = yield* Effect.forkScoped(Fiber.interrupt(writer))
      yield* Effect.yieldNow
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(interrupting)
      assert.strictEqual(yield* Deferred.await(seen), 1)
      assert.strictEqual(yield* count, 1)
    }))

  it.effect("a wake-up runs at once outside of a transaction", () =>
    Effect.gen(function*() {
      const { afterCommit, seen, wakeUp } = yield* table("alone")
      yield* afterCommit(wakeUp)
      assert.strictEqual(yield* Deferred.await(seen), 0)
    }))

  it.effect("a wake-up of a rolled-back transaction never runs", () =>
    Effect.gen(function*() {
      const { afterCommit, count, insert, seen, transaction, wakeUp } = yield* table("undone")
      const failed = yield* Effect.flip(
        transaction(Effect.andThen(insert, Effect.andThen(afterCommit(wakeUp), new Unwanted())))
      )
      assert.instanceOf(failed, Unwanted)
      assert.strictEqual(yield* count, 0)
      yield* Effect.yieldNow
      assert.isFalse(yield* Deferred.isDone(seen))
    }))

  it.effect("a wake-up of a rolled-back savepoint never runs", () =>
    Effect.gen(function*() {
      const { afterCommit, count, insert, seen, transaction, wakeUp } = yield* table("partly")
      yield* transaction(Effect.gen(function*() {
        yield* insert
        yield* Effect.flip(transaction(Effect.andThen(insert, Effect.andThen(afterCommit(wakeUp), new Unwanted()))))
      }))
      assert.strictEqual(yield* count, 1)
      yield* Effect.yieldNow
      assert.isFalse(yield* Deferred.isDone(seen))
    }))

  it.effect("a transaction runs on the pool that it was taken from", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const assigned = sql`select pg_current_xact_id()::text`.pipe(
        Effect.andThen(sql`select pg_current_xact_id_if_assigned() is not null as n`)
      )
      const inTransaction = Effect.flatMap(Database, ({ transaction }) => transaction(assigned))
      assert.deepStrictEqual(yield* inTransaction, [{ n: true }])
      const other = Layer.fresh(TestDatabase.layerClient)
      assert.deepStrictEqual(yield* Effect.provide(inTransaction, other), [{ n: false }])
    }))

  it.effect("work that waits for others runs outside of a transaction, and dies inside one", () =>
    Effect.gen(function*() {
      const { inTransaction, transaction, waitWithoutConnection } = yield* Database
      assert.isFalse(yield* waitWithoutConnection(inTransaction))
      const exit = yield* Effect.exit(transaction(waitWithoutConnection(Effect.void)))
      assert.isTrue(Exit.hasDies(exit))
    }))

  it.effect("a transaction inside a group commit has its own wake-ups", () =>
    Effect.gen(function*() {
      const { afterCommit, count, insert, seen, transaction, wakeUp } = yield* table("grouped")
      const write = yield* GroupCommit.make({
        maxSize: 10,
        concurrency: 2,
        run: (inputs: ReadonlyArray<void>) =>
          transaction(Effect.andThen(insert, Effect.as(afterCommit(wakeUp), inputs)))
      })
      yield* write()
      assert.strictEqual(yield* Deferred.await(seen), 1)
      assert.strictEqual(yield* count, 1)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("retryWhileUnavailable", (it) => {
  it.effect("retryWhileUnavailable runs an effect again after the end of its session or a deadlock, and after no other failure", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      let sessions = 0
      yield* retryWhileUnavailable(
        Effect.suspend(() => sessions++ === 0 ? sql`select pg_terminate_backend(pg_backend_pid())` : sql`select 1`)
      )
      assert.strictEqual(sessions, 2)
      yield* sql`create table crossed (id integer primary key, n integer not null)`
      yield* sql`insert into crossed values (1, 0), (2, 0)`
      const { transaction } = yield* Database
      const both = yield* Deferred.make<void>()
      let holding = 0
      const add = (first: number, second: number) =>
        retryWhileUnavailable(transaction(Effect.gen(function*() {
          yield* sql`update crossed set n = n + 1 where id = ${first}`
          if (++holding === 2) yield* Deferred.succeed(both, undefined)
          yield* Deferred.await(both)
          yield* sql`update crossed set n = n + 1 where id = ${second}`
        })))
      yield* Effect.all([add(1, 2), add(2, 1)], { concurrency: 2 })
      assert.deepStrictEqual(yield* sql`select n from crossed`, [{ n: 2 }, { n: 2 }])
      let tries = 0
      yield* Effect.flip(retryWhileUnavailable(Effect.suspend(() => {
        tries++
        return sql`select 1 / 0`
      })))
      assert.strictEqual(tries, 1)
    }))
})
