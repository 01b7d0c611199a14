import { Clock, Effect } from "effect"
import { randomBytes } from "node:crypto"

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const encode = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest >>= 5n) text = alphabet[Number(rest & 31n)] + text
  return text
}

/** A ULID: 48 bits of milliseconds and 80 random bits in 26 characters that sort by time. */
export const ulid: Effect.Effect<string> = Effect.map(
  Clock.currentTimeMillis,
  (millis) => encode(BigInt(millis), 10) + encode(BigInt(`0x${randomBytes(10).toString("hex")}`), 16)
)
