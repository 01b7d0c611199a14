/**
 * The values of PostgreSQL types in this program, where they differ from the client's default codecs:
 *
 * - `int8` (bigint, count(*)) is a number if that is exact, else a bigint. The default, always a bigint, has no JSON
 *   form.
 * - `timestamptz` is text in UTC with exactly six decimals, "2026-01-31T08:05:09.000042Z". The default, a Date, drops
 *   the microseconds. `infinity` and `-infinity` stay these words. Years outside 0 to 9999 have a sign and six digits,
 *   so only the other texts sort chronologically.
 *
 * The same holds inside arrays. As parameters, int8 accepts numbers and bigints; timestamptz accepts that text, Dates
 * and epoch milliseconds. A plain string parameter has no type on the wire, and PostgreSQL parses it:
 * `${text}::timestamptz`.
 */
import { PgTypes } from "@effect/sql-pg"
import { DateTime, Option, Result } from "effect"

/** Accepted as a `timestamptz` parameter. Result rows always contain the text. */
export type TimestampInput = string | Date | number

/** The codecs of this program's client: `PgClient.layer({ ..., types: PgCodecs.registry })`. */
export const registry = PgTypes.makeRegistry()

/** 2000-01-01 in Unix milliseconds, the epoch of PostgreSQL's microseconds. */
const epochMillis = 946_684_800_000
const microsPerSecond = 1_000_000
const greatestMillis = 8_640_000_000_000_000
const infinity = 2n ** 63n - 1n
const minusInfinity = -(2n ** 63n)

const refuse = (message: string) => Result.fail(new PgTypes.CodecError({ message }))

/** The number if it is exact, else the bigint. */
const readInt64 = (bytes: Uint8Array, offset: number): number | bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 8)
  const near = view.getInt32(0) * 2 ** 32 + view.getUint32(4)
  return Number.isSafeInteger(near) ? near : view.getBigInt64(0)
}

const writeInt64 = (value: bigint, type: string): Result.Result<Uint8Array, PgTypes.CodecError> => {
  if (BigInt.asIntN(64, value) !== value) return refuse(`${value} does not fit into ${type}`)
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value)
  return Result.succeed(bytes)
}

/** Avoids a bigint, which is slower: each row of each group writes ids. */
const writeSafeInteger = (value: number): Uint8Array => {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeInt32BE(Math.floor(value / 2 ** 32))
  bytes.writeUInt32BE(value >>> 0, 4)
  return bytes
}

const codec = <A>(
  type: string,
  encode: (value: A) => Result.Result<Uint8Array, PgTypes.CodecError>,
  fromInt64: (value: number | bigint) => Result.Result<A, PgTypes.CodecError>
): PgTypes.Codec<A> => {
  const read = (bytes: Uint8Array, offset: number, size: number) =>
    size === 8 ? fromInt64(readInt64(bytes, offset)) : refuse(`Expected 8 bytes for ${type}, received ${size}`)
  return { encode, read, decode: (bytes) => read(bytes, 0, bytes.length) }
}

registry.register(
  PgTypes.OID.int8,
  codec<number | bigint>(
    "int8",
    (value) => {
      if (typeof value === "bigint") return writeInt64(value, "int8")
      return Number.isSafeInteger(value)
        ? Result.succeed(writeSafeInteger(value))
        : refuse(`${value} is not an exact integer`)
    },
    Result.succeed
  )
)

/** Uses remainders, because dividing microseconds by a million rounds, in the worst case up to the next second. */
const splitMicros = (micros: number | bigint) => {
  if (typeof micros === "number") {
    const fraction = ((micros % microsPerSecond) + microsPerSecond) % microsPerSecond
    return { fraction, seconds: (micros - fraction) / microsPerSecond }
  }
  const unit = BigInt(microsPerSecond)
  const fraction = ((micros % unit) + unit) % unit
  return { fraction: Number(fraction), seconds: Number((micros - fraction) / unit) }
}

const formatMicros = (micros: number | bigint): Result.Result<string, PgTypes.CodecError> => {
  if (micros === infinity) return Result.succeed("infinity")
  if (micros === minusInfinity) return Result.succeed("-infinity")
  const { fraction, seconds } = splitMicros(micros)
  const millis = seconds * 1000 + epochMillis
  if (Math.abs(millis) > greatestMillis) return refuse("The timestamptz lies after the year 275760")
  const text = DateTime.formatIso(DateTime.makeUnsafe(millis))
  return Result.succeed(`${text.slice(0, -5)}.${String(fraction).padStart(6, "0")}Z`)
}

const timestampText = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/

const parseText = (text: string): Option.Option<bigint> => {
  if (text === "infinity") return Option.some(infinity)
  if (text === "-infinity") return Option.some(minusInfinity)
  const [, seconds, fraction = ""] = timestampText.exec(text) ?? []
  if (seconds === undefined) return Option.none()
  return DateTime.make(`${seconds}Z`).pipe(
    // A day such as 02-30 would become a day in March.
    Option.filter((instant) => DateTime.formatIso(instant).startsWith(seconds)),
    Option.map((instant) =>
      BigInt(DateTime.toEpochMillis(instant) - epochMillis) * 1000n + BigInt(fraction.padEnd(6, "0"))
    )
  )
}

const parseInput = (value: TimestampInput): Option.Option<bigint> => {
  if (typeof value === "string") return parseText(value)
  const millis = typeof value === "number" ? value : value.getTime()
  return Number.isSafeInteger(millis) ? Option.some(BigInt(millis - epochMillis) * 1000n) : Option.none()
}

registry.register(
  PgTypes.OID.timestamptz,
  codec<TimestampInput>(
    "timestamptz",
    (value) =>
      Option.match(parseInput(value), {
        onNone: () => refuse(`${String(value)} is not an instant in UTC`),
        onSome: (micros) => writeInt64(micros, "timestamptz")
      }),
    formatMicros
  )
)
