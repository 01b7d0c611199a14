import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Option, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseUnreachable } from "../../../src/platform/database/DatabaseUnreachable.ts"
import { Outages } from "../../../src/platform/database/Outages.ts"
import { isDatabaseUnavailable, outageIn } from "../../../src/platform/database/unavailable.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const errorWith = (code: string) =>
  SqlError.SqlError.make({
    reason: SqlError.UnknownError.make({ cause: { code, message: "refused" }, message: "failed", operation: "query" })
  })

const isPassing = (code: string) => isDatabaseUnavailable(Cause.die(errorWith(code)))
const isOutage = (code: string) => Option.isSome(outageIn(Cause.fail(errorWith(code))))

const SqlState = Schema.String.check(Schema.isPattern(/^[0-9A-Z]{5}$/))
const faults = ["21", "22", "23", "42", "44", "P0"]

describe("isDatabaseUnavailable", () => {
  it.prop("is true for every SQLSTATE that does not blame the statement or its data", [SqlState], ([code]) => {
    assert.strictEqual(isPassing(code), !faults.includes(code.slice(0, 2)))
  })

  it.prop("is false for the classes that do", [Schema.Literals(["21", "22", "23", "42", "44", "P0"]), SqlState], (
    [group, code]
  ) => {
    assert.isFalse(isPassing(group + code.slice(2)))
  })

  it.effect("reads the states that a real server reports", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const causeOf = (setting: string, statement: string) =>
        Effect.map(
          Effect.flip(sql.withTransaction(Effect.andThen(sql.unsafe(`set local ${setting}`), sql.unsafe(statement)))),
          Cause.fail
        )
      const causes = [
        yield* causeOf("transaction_read_only = on", "create table t (id integer)"),
        yield* causeOf("statement_timeout = 10", "select pg_sleep(5)"),
        yield* causeOf("statement_timeout = 0", "select 1 / 0")
      ]
      assert.deepStrictEqual(causes.map(isDatabaseUnavailable), [true, true, false])
      assert.deepStrictEqual(causes.map((cause) => Option.isSome(outageIn(cause))), [true, false, false])
    }).pipe(Effect.provide(TestDatabase.layer)))
})

describe("outageIn", () => {
  it("finds failures that blame the whole server, not one statement", () => {
    const server = ["08006", "25006", "53100", "53200", "53300", "57P01", "57P03", "58030"]
    const statement = ["25P02", "25P03", "40001", "40P01", "53400", "55P03", "57014", "22001", "23505", "42P01"]
    assert.deepStrictEqual(server.filter(isOutage), server)
    assert.deepStrictEqual(statement.filter(isOutage), [])
  })
})

describe("DatabaseUnreachable", () => {
  it("says what to do about a full disk, and about a lack of memory or connections, and else names DATABASE_URL", () => {
    const messageOf = (code: string) => DatabaseUnreachable.from(errorWith(code)).message
    assert.match(messageOf("53100"), /\. Free space on the disk of the database, or enlarge it\.$/)
    assert.match(messageOf("53200"), /\. Give the machine of the database more memory\.$/)
    assert.match(messageOf("53300"), /\. Raise max_connections of PostgreSQL, or lower DATABASE_CONNECTIONS\.$/)
    assert.match(messageOf("25006"), /\. Let DATABASE_URL lead to a server that takes writes\.$/)
    assert.match(messageOf("57P03"), /\. Check DATABASE_URL, or unset it to use the embedded database\.$/)
  })
})

describe("Outages", () => {
  it.effect("counts a failure for five seconds if it blames the server", () =>
    Effect.gen(function*() {
      const { isRecent, note } = yield* Outages
      yield* note(Cause.die(errorWith("57014")))
      assert.isFalse(yield* isRecent)
      yield* note(Cause.die(errorWith("53100")))
      yield* TestClock.adjust("4999 millis")
      assert.isTrue(yield* isRecent)
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* isRecent)
    }).pipe(Effect.provide(Outages.layer)))

  it.effect("counts a failure for five seconds, also if the clock is set back meanwhile", () =>
    Effect.gen(function*() {
      const { isRecent, note } = yield* Outages
      yield* TestClock.adjust("2 hours")
      yield* note(Cause.die(errorWith("53100")))
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("4999 millis")
      assert.isTrue(yield* isRecent)
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* isRecent)
    }).pipe(Effect.provide(Outages.layer)))
})
