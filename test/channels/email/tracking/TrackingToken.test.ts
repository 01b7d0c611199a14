import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { createSecretKey } from "node:crypto"
import { readTrackingToken, trackingTokens } from "../../../../src/channels/email/tracking/TrackingToken.ts"
import { EmailMessageId } from "../../../../src/values/Ids.ts"

const key = createSecretKey(new Uint8Array(32).fill(7))

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

describe("TrackingToken", () => {
  it("reads back message and link, and refuses a token for another purpose or key", () => {
    for (const id of [1, 256, 2 ** 53 - 1]) {
      for (const link of [0, 999, 65_535]) {
        const tracked = { id: EmailMessageId.make(id), link }
        const token = trackingTokens(key, tracked.id)("click", link)
        assert.match(token, /^[\w-]{32}$/)
        assert.deepStrictEqual(readTrackingToken(key, "click", token), Option.some(tracked))
        assert.deepStrictEqual(readTrackingToken(key, "open", token), Option.none())
        assert.deepStrictEqual(readTrackingToken(createSecretKey(new Uint8Array(32)), "click", token), Option.none())
      }
    }
  })

  it("refuses a token with a changed bit, a missing or an extra character", () => {
    const token = trackingTokens(key, EmailMessageId.make(901))("open", 0)
    for (const [at, letter] of [...token].entries()) {
      for (let bit = 1; bit < 64; bit *= 2) {
        const other = alphabet[alphabet.indexOf(letter) ^ bit] ?? ""
        const changed = token.slice(0, at) + other + token.slice(at + 1)
        assert.deepStrictEqual(readTrackingToken(key, "open", changed), Option.none(), changed)
      }
    }
    for (const other of ["", token.slice(1), `${token}A`, `${token}=`, token.replace(/.$/, "+"), "é".repeat(32)]) {
      assert.deepStrictEqual(readTrackingToken(key, "open", other), Option.none(), other)
    }
  })
})
