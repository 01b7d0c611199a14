import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decodeBase32, encodeBase32 } from "../../../src/platform/crypto/base32.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

describe("base32", () => {
  it("encodes as RFC 4648 in lower case", () => {
    assert.strictEqual(encodeBase32(Buffer.from("fooba")), "mzxw6ytb")
    assert.strictEqual(encodeBase32(Buffer.from("foobarbaz!")), "mzxw6ytbojrgc6rb")
  })

  it.prop("decodes every byte in either case of letters", [Bytes], ([list]) => {
    const bytes = Uint8Array.from(list.slice(0, list.length - list.length % 5))
    const text = encodeBase32(bytes)
    assert.deepStrictEqual(decodeBase32(text), bytes)
    assert.deepStrictEqual(decodeBase32(text.toUpperCase()), bytes)
  })

  it.prop("rejects any other text", [Schema.String], ([text]) => {
    const bytes = decodeBase32(text)
    if (bytes !== undefined) assert.strictEqual(encodeBase32(bytes), text.toLowerCase())
  })

  it("rejects letters that become its letters only by case folding", () => {
    assert.isUndefined(decodeBase32("\u212axw6ytbm"))
    assert.isUndefined(decodeBase32("mzxw6yt="))
  })
})
