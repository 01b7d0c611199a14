import { Clock, Effect } from "effect"
import { fewRandomBytes } from "./randomness.ts"

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const timeText = (millis: number): string => {
  let text = ""
  for (let rest = millis; text.length < 10; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}

const randomText = (): string => {
  let text = ""
  for (const byte of fewRandomBytes(16)) text += alphabet[byte % 32]
  return text
}

/** A ULID: 48 bits of milliseconds and 80 random bits in 26 characters that sort by time. */
export const ulid: Effect.Effect<string> = Effect.map(
  Clock.currentTimeMillis,
  (millis) => timeText(millis) + randomText()
)
