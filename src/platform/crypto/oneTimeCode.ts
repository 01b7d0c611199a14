import { Schema } from "effect"
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto"

/**
 * The seed of a one-time code: its length, random bits, and how many of its digits come before. The code is a MAC of the
 * seed, so a dump of the database does not reveal it. A queued message contains a mask instead of the code.
 */
export const CodeSeed = Schema.String.check(Schema.isPattern(/^[4-8]\.[A-Za-z0-9_-]{22}\.[0-7]$/)).pipe(
  Schema.brand("CodeSeed")
)
export type CodeSeed = typeof CodeSeed.Type

/** Stands for one digit. A text with a mask must contain no other stars. */
const star = "*"

const parts = (seed: CodeSeed) => {
  const [length = "", bits = "", offset = ""] = seed.split(".")
  return { length: Number(length), bits, offset: Number(offset) }
}

/** Draws the seed of a new code. */
export const drawSeed = (length: number): CodeSeed =>
  CodeSeed.make(`${length}.${randomBytes(16).toString("base64url")}.0`)

/** As many stars as the code has digits. */
export const maskOf = (seed: CodeSeed): string => star.repeat(parts(seed).length)

/** The seed for the text that follows; a long text may be cut in the middle of its mask. */
export const seedAfter = (seed: CodeSeed, text: string): CodeSeed => {
  const { bits, length, offset } = parts(seed)
  return CodeSeed.make(`${length}.${bits}.${(offset + text.split(star).length - 1) % length}`)
}

// 64 bits modulo at most 10^8: no digit is likelier than another by more than 10^-11.
const codeOf = (key: KeyObject, seed: CodeSeed): string => {
  const { bits, length } = parts(seed)
  const mac = createHmac("sha256", key).update(`code:${length}:${bits}`).digest()
  return String(mac.readBigUInt64BE() % 10n ** BigInt(length)).padStart(length, "0")
}

/** Replaces the mask in the text with the code. Call it immediately before the text is sent. */
export const fillIn = (key: KeyObject, seed: CodeSeed, text: string): string => {
  const { length, offset } = parts(seed)
  const code = codeOf(key, seed)
  let next = offset
  return text.replaceAll(star, () => code.charAt(next++ % length))
}

/** Whether a guess is the code, in constant time. */
export const isCode = (key: KeyObject, seed: CodeSeed, guess: string): boolean => {
  const digest = (code: string) => createHmac("sha256", key).update(`guess:${code}`).digest()
  return timingSafeEqual(digest(codeOf(key, seed)), digest(guess))
}
