import { Clock, Effect } from "effect"
import { randomFillSync } from "node:crypto"

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * A few random bytes from a pool that is filled 4 KiB at a time: one system call per id would cost more than the id.
 * Each byte is used once. Ids are not secrets, so the shared buffer does no harm.
 */
const randomBytes = (count: number): Buffer => {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return Buffer.from(pool.subarray(used - count, used))
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const timeText = (millis: number): string => {
  let text = ""
  for (let rest = millis; text.length < 10; rest = Math.floor(rest / 32)) text = crockford[rest % 32] + text
  return text
}

const randomText = (): string => {
  let text = ""
  for (const byte of randomBytes(16)) text += crockford[byte % 32]
  return text
}

/** A ULID: 48 bits of milliseconds and 80 random bits, in 26 characters that sort by time. */
export const ulid: Effect.Effect<string> = Effect.map(
  Clock.currentTimeMillis,
  (millis) => timeText(millis) + randomText()
)

/** The milliseconds of a ULID. */
export const ulidMillis = (id: string): number => {
  let millis = 0
  for (const letter of id.slice(0, 10)) millis = millis * 32 + crockford.indexOf(letter)
  return millis
}

/** A UUID version 7 (RFC 9562) for an instant in milliseconds. */
export const uuid7 = (millis: number): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(millis, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
