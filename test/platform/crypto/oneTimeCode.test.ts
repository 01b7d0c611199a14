import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import NodeCrypto from "node:crypto"
import * as NodeModule from "node:module"
import { type CodeSeed, drawSeed, fillIn, isCode, maskOf, seedAfter } from "../../../src/platform/crypto/oneTimeCode.ts"

const key = NodeCrypto.createSecretKey(new Uint8Array(32).fill(7))
const lengths = Schema.Int.check(Schema.isBetween({ minimum: 4, maximum: 8 }))

const codeOf = (seed: CodeSeed) => fillIn(key, seed, maskOf(seed))

describe("a one-time code", () => {
  it.prop(
    "has the requested number of digits, is the same each time, and no other code matches",
    [lengths],
    ([length]) => {
      const seed = drawSeed(length)
      const code = codeOf(seed)
      assert.match(code, new RegExp(`^\\d{${length}}$`))
      assert.strictEqual(codeOf(seed), code)
      assert.isTrue(isCode(key, seed, code))
      for (
        const other of [
          `${code}0`,
          code.slice(1),
          "",
          code.replace(/^./, (digit) => String((Number(digit) + 1) % 10))
        ]
      ) {
        assert.isFalse(isCode(key, seed, other))
      }
    }
  )

  it("is compared in constant time for any guess", () => {
    const seed = drawSeed(6)
    const code = codeOf(seed)
    const { timingSafeEqual } = NodeCrypto
    let compared = 0
    NodeCrypto.timingSafeEqual = (left, right) => {
      compared++
      return timingSafeEqual(left, right)
    }
    NodeModule.syncBuiltinESMExports()
    try {
      const guesses = [code, `${code.slice(0, -1)}x`, `x${code.slice(1)}`, "", code.repeat(100)]
      assert.deepStrictEqual(guesses.map((guess) => isCode(key, seed, guess)), [true, false, false, false, false])
      assert.strictEqual(compared, guesses.length)
    } finally {
      NodeCrypto.timingSafeEqual = timingSafeEqual
      NodeModule.syncBuiltinESMExports()
    }
  })

  it("differs for another key and another seed", () => {
    const seed = drawSeed(8)
    assert.notStrictEqual(
      fillIn(NodeCrypto.createSecretKey(new Uint8Array(32).fill(8)), seed, "********"),
      codeOf(seed)
    )
    const codes = new Set(Array.from({ length: 100 }, () => codeOf(drawSeed(8))))
    assert.isAtLeast(codes.size, 99)
  })

  it("keeps leading zeros, and each digit is about as frequent in each place", () => {
    const codes = Array.from({ length: 10_000 }, () => codeOf(drawSeed(4)))
    for (let place = 0; place < 4; place++) {
      for (let digit = 0; digit < 10; digit++) {
        const count = codes.filter((code) => code[place] === String(digit)).length
        // The expected count is 1,000 with a standard deviation of 30.
        assert.isTrue(count > 800 && count < 1_200, `${digit} stands ${count} times in place ${place}`)
      }
    }
  })

  it.prop("stays complete wherever a text with two masks is cut", [
    lengths,
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
  ], (
    [length, at]
  ) => {
    const seed = drawSeed(length)
    const text = `Code ${maskOf(seed)}.\n\n@shop.example #${maskOf(seed)}`
    const [first, second] = [text.slice(0, at), text.slice(at)]
    const whole = fillIn(key, seed, text)
    assert.strictEqual(fillIn(key, seed, first) + fillIn(key, seedAfter(seed, first), second), whole)
    assert.strictEqual(whole.split(codeOf(seed)).length, 3)
  })
})
