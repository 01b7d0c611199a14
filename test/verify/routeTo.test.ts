import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { keyOf, prefixOf, Recipient } from "../../src/verify/Recipient.ts"
import { routeTo } from "../../src/verify/routeTo.ts"

const read = Schema.decodeEffect(Recipient)

describe("routeTo", () => {
  it.effect("a code uses the requested channel, WhatsApp and then SMS for a number, and email for an address", () =>
    Effect.gen(function*() {
      const [number, address] = [yield* read("+250 788 123 456"), yield* read("Ada@Example.com")]
      assert.deepStrictEqual(yield* routeTo(number, "auto"), ["whatsapp", "sms"])
      assert.deepStrictEqual(yield* routeTo(number, "sms"), ["sms"])
      assert.deepStrictEqual(yield* routeTo(number, "whatsapp"), ["whatsapp"])
      assert.deepStrictEqual(yield* routeTo(address, "auto"), ["email"])
      assert.deepStrictEqual(yield* routeTo(address, "email"), ["email"])
    }))

  it.effect("a code is refused for an address by SMS, for a number by email, and for a number that costs money to call", () =>
    Effect.gen(function*() {
      const cases = [
        ["ada@example.com", "sms"],
        ["ada@example.com", "whatsapp"],
        ["+250788123456", "email"],
        ["+19002345678", "auto"],
        ["+18002345678", "sms"]
      ] as const
      for (const [to, channel] of cases) {
        const { param } = yield* Effect.flip(routeTo(yield* read(to), channel))
        assert.strictEqual(param, "to")
      }
    }))

  it.effect("a recipient has one key for all spellings, and a number has a prefix", () =>
    Effect.gen(function*() {
      const [number, address] = [yield* read("+250 788 123 456"), yield* read("Ada@Example.com")]
      assert.deepStrictEqual([keyOf(number), prefixOf(number)], ["+250788123456", "+25078812"])
      assert.deepStrictEqual([keyOf(address), prefixOf(address)], ["ada@example.com", null])
    }))
})
