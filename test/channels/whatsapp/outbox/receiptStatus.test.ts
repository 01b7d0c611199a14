import { assert, describe, it } from "@effect/vitest"
import { receiptStatus } from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"

const receipt = (ids: ReadonlyArray<string>) => {
  const [id = "", ...more] = ids
  const items = more.map((item) => ({ tag: "item", attrs: { id: item } }))
  return { tag: "receipt", attrs: { id, type: "read" }, content: [{ tag: "list", attrs: {}, content: items }] }
}

describe("receiptStatus", () => {
  it("returns all ids in the receipt except invalid ones", () => {
    assert.deepStrictEqual(receiptStatus(receipt(["A", "B"])), { status: "read", ids: ["A", "B"] })
    assert.deepStrictEqual(receiptStatus(receipt(["A\u0000", "B", "C".repeat(300)])), { status: "read", ids: ["B"] })
  })
})
