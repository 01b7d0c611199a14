import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { Recipient, storedRecipient } from "../../src/verify/Recipient.ts"

describe("storedRecipient", () => {
  it("is the recipient of an address or a number, also of a number that is no longer possible", () => {
    for (const address of ["ada@example.com", "+250788123456"]) {
      assert.deepStrictEqual(storedRecipient(address), Schema.decodeSync(Recipient)(address))
    }
    assert.isTrue(Option.isNone(Schema.decodeOption(Recipient)("+1")))
    const { address, kind } = storedRecipient("+1")
    assert.deepStrictEqual([kind, String(address)], ["phone", "+1"])
  })
})
