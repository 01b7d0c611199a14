import { Effect } from "effect"
import { argon2, randomBytes, timingSafeEqual } from "node:crypto"

/** OWASP's second recommendation for argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const

const derive = (password: string, nonce: Buffer, parameters: typeof cost | Record<keyof typeof cost, number>) =>
  Effect.callback<Buffer>((resume) => {
    argon2(
      "argon2id",
      { message: password, nonce, ...parameters },
      (error, tag) => resume(error === null ? Effect.succeed(tag) : Effect.die(error))
    )
  })

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "")

/** Hashes a password to a PHC string that includes its cost. Runs in the thread pool. */
export const hash = Effect.fn("Passwords.hash")(function*(password: string) {
  const nonce = randomBytes(16)
  const tag = yield* derive(password.normalize("NFKC"), nonce, cost)
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`
})

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Matches no password. With it an unknown mail address costs as much time as a known one. */
const decoy = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/** Whether the password matches the hash. Without a hash it takes as long and returns false. */
export const verify = Effect.fn("Passwords.verify")(function*(password: string, stored: string | null) {
  const [, memory, passes, parallelism, nonce, tag] = phc.exec(stored ?? decoy) ?? []
  if (nonce === undefined || tag === undefined) return false
  const expected = Buffer.from(tag, "base64")
  const actual = yield* derive(password.normalize("NFKC"), Buffer.from(nonce, "base64"), {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length
  })
  return timingSafeEqual(actual, expected) && stored !== null
})
