import { PgTypes } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as PgCodecs from "../../../src/platform/database/PgCodecs.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const SafeInt = Schema.Int.check(
  Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
)

/** Unix seconds of the years 0001 to 9999, which PostgreSQL writes without "BC" or signs. */
const Second = Schema.Int.check(Schema.isBetween({ minimum: -62_135_596_800, maximum: 253_402_300_799 }))
const Micro = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999_999 }))

const isoOf = (second: number, micro: number) =>
  `${DateTime.formatIso(DateTime.makeUnsafe(second * 1000)).slice(0, 19)}.${String(micro).padStart(6, "0")}Z`

const wire = (value: unknown, oid: number) => Result.getOrThrow(PgTypes.encode(value, oid, PgCodecs.registry))
const read = (bytes: Uint8Array, oid: number) => Result.getOrThrow(PgTypes.decode(bytes, oid, 1, PgCodecs.registry))
const int64 = (value: bigint) => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value)
  return bytes
}

describe("int8", () => {
  it("int8 is a number up to 2^53 - 1 on both sides, and a bigint beyond", () => {
    assert.strictEqual(read(int64(2n ** 53n - 1n), PgTypes.OID.int8), Number.MAX_SAFE_INTEGER)
    assert.strictEqual(read(int64(1n - 2n ** 53n), PgTypes.OID.int8), Number.MIN_SAFE_INTEGER)
    assert.strictEqual(read(int64(2n ** 53n), PgTypes.OID.int8), 2n ** 53n)
    assert.strictEqual(read(int64(-(2n ** 53n)), PgTypes.OID.int8), -(2n ** 53n))
    assert.strictEqual(read(int64(-(2n ** 63n)), PgTypes.OID.int8), -(2n ** 63n))
  })

  it("int8 refuses a fraction and values beyond 64 bits", () => {
    for (const value of [1.5, Number.NaN, 2 ** 60, 2n ** 63n]) {
      assert.isTrue(Result.isFailure(PgTypes.encode(value, PgTypes.OID.int8, PgCodecs.registry)))
    }
  })

  it.prop("int8 survives the wire", [SafeInt], ([value]) => {
    assert.strictEqual(read(wire(value, PgTypes.OID.int8), PgTypes.OID.int8), value)
  })
})

describe("timestamptz", () => {
  it("timestamptz keeps the last microsecond of a second, which division would round up", () => {
    const micros = 9_007_199_253_999_999n
    assert.strictEqual(read(int64(micros), PgTypes.OID.timestamptz), "2285-06-04T23:47:33.999999Z")
    assert.strictEqual(read(int64(-1n), PgTypes.OID.timestamptz), "1999-12-31T23:59:59.999999Z")
  })

  it("timestamptz writes infinity as PostgreSQL does, and a year of five digits with its sign", () => {
    assert.strictEqual(read(int64(2n ** 63n - 1n), PgTypes.OID.timestamptz), "infinity")
    assert.strictEqual(read(int64(-(2n ** 63n)), PgTypes.OID.timestamptz), "-infinity")
    assert.strictEqual(
      read(wire("+012345-01-02T03:04:05Z", PgTypes.OID.timestamptz), PgTypes.OID.timestamptz),
      "+012345-01-02T03:04:05.000000Z"
    )
  })

  it("timestamptz accepts Dates and epoch milliseconds as parameters", () => {
    const date = DateTime.toDateUtc(DateTime.makeUnsafe("2026-01-31T08:05:09.042Z"))
    for (const value of [date, date.getTime()]) {
      assert.strictEqual(
        read(wire(value, PgTypes.OID.timestamptz), PgTypes.OID.timestamptz),
        "2026-01-31T08:05:09.042000Z"
      )
    }
  })

  it("timestamptz refuses a day that does not exist, an offset and other text", () => {
    for (const value of ["2026-02-30T00:00:00Z", "2026-01-01T00:00:00+02:00", "now", "", Number.NaN]) {
      assert.isTrue(Result.isFailure(PgTypes.encode(value, PgTypes.OID.timestamptz, PgCodecs.registry)))
    }
  })

  it.prop("timestamptz survives the wire", [Second, Micro], ([second, micro]) => {
    const text = isoOf(second, micro)
    assert.strictEqual(read(wire(text, PgTypes.OID.timestamptz), PgTypes.OID.timestamptz), text)
  })
})

layer(TestDatabase.layer)("codecs on a real server", (it) => {
  it.effect.prop("integers return from int8 unchanged", [SafeInt], ([value]) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`select ${value}::int8 as typed, ${String(value)}::int8 as texted`
      assert.deepStrictEqual(row, { typed: value, texted: value })
    }))

  it.effect.prop("instants return with their microseconds, in PostgreSQL's form", [Second, Micro], ([
    second,
    micro
  ]) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const text = isoOf(second, micro)
      const [row] = yield* sql`
        select
          ${text}::timestamptz as instant,
          to_char(${text}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as written,
          ${
        PgTypes.array([text], PgTypes.OID.timestamptz).pipe(Result.getOrThrow)
      } = array[${text}::timestamptz] as same`
      assert.deepStrictEqual(row, { instant: text, written: text, same: true })
    }))

  it.effect("count(*) is a number, and bigint columns accept numbers of every size", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create temporary table numbers (n bigint)`.pipe(
        Effect.andThen(sql`insert into numbers ${sql.insert([{ n: 1 }, { n: 2 }])}`),
        Effect.andThen(sql`insert into numbers ${sql.insert([{ n: 5_000_000_000 }])}`),
        Effect.andThen(
          sql`select count(*) as count, max(n) as greatest from numbers where n in ${sql.in([1, 5_000_000_000])}`
        ),
        Effect.map((rows) => assert.deepStrictEqual(rows, [{ count: 2, greatest: 5_000_000_000 }])),
        sql.withTransaction
      )
    }))

  it.effect("arrays use the same codecs, with nulls", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const instants = ["2026-01-31T08:05:09.000042Z", "1969-12-31T23:59:59.999999Z"]
      const [row] = yield* sql`
        select
          array[1, null, 9007199254740993]::int8[] as numbers,
          ${instants}::timestamptz[] as instants,
          array['infinity', null]::timestamptz[] as endless,
          '{}'::int8[] as empty`
      assert.deepStrictEqual(row, {
        numbers: [1, null, 9007199254740993n],
        instants,
        endless: ["infinity", null],
        empty: []
      })
    }))

  it.effect("an int8 array with a named type accepts numbers on both sides of 2^31", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const numbers = [1, 5_000_000_000, 2n ** 62n]
      const parameter = Result.getOrThrow(PgTypes.array(numbers, PgTypes.OID.int8))
      const [row] = yield* sql`select ${parameter}::int8[] as numbers`
      assert.deepStrictEqual(row, { numbers })
    }))

  it.effect("a Date parameter is the same instant", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`select ${DateTime.toDateUtc(DateTime.makeUnsafe("2026-01-31T08:05:09.042Z"))} as instant`
      assert.deepStrictEqual(row, { instant: "2026-01-31T08:05:09.042000Z" })
    }))
})
