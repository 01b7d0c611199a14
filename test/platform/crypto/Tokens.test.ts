import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tokens from "../../../src/platform/crypto/Tokens.ts"

const Position = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 37 }))

describe("Tokens", () => {
  it("mints tokens of a prefix, 32 random and 6 checksum characters in base62", () => {
    const token = Tokens.mint("sk_live_")
    assert.match(token, /^sk_live_[0-9A-Za-z]{38}$/)
    assert.notStrictEqual(token, Tokens.mint("sk_live_"))
    assert.isTrue(Tokens.isWellFormed("sk_live_", token))
  })

  it.prop("detects a token with one changed character", [Position], ([position]) => {
    const token = Tokens.mint("sk_live_")
    const at = 8 + position
    const changed = token.slice(0, at) + (token[at] === "x" ? "y" : "x") + token.slice(at + 1)
    return !Tokens.isWellFormed("sk_live_", changed)
  })

  it.prop(
    "does not accept arbitrary text as a token",
    [Schema.String],
    ([text]) => !Tokens.isWellFormed("sk_live_", text)
  )

  it("hashes different tokens to different 32 bytes", () => {
    assert.strictEqual(Tokens.hash("a").length, 32)
    assert.notDeepEqual(Tokens.hash("a"), Tokens.hash("b"))
  })
})
