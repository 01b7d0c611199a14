import { assert, describe, it } from "@effect/vitest"
import { receiptStatus } from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"

const receipt = (ids: ReadonlyArray<string>) => {
  const [id = "", ...more] = ids
  const items = more.map((item) => ({ tag: "item", attrs: { id: item } }))
  return { tag: "receipt", attrs: { id, type: "read" }, content: [{ tag: "list", attrs: {}, content: items }] }
}

describe("receiptStatus", () => {
  it("returns the status that the chat's phones report, and none for other devices and other types", () => {
    const rows: ReadonlyArray<readonly [Readonly<Record<string, string>>, "delivered" | "read" | undefined]> = [
      [{ id: "A" }, "delivered"],
      [{ id: "A", type: "inactive" }, "delivered"],
      [{ id: "A", type: "read" }, "read"],
      [{ id: "A", type: "played" }, "read"],
      [{ id: "A", type: "sender" }, undefined],
      [{ id: "A", type: "retry" }, undefined],
      [{ id: "A", type: "read-self" }, undefined],
      [{ id: "A", type: "constructor" }, undefined],
      [{ id: "A", recipient: "1@lid" }, undefined],
      [{ id: "A", type: "read", recipient: "1@lid" }, undefined],
      [{ type: "read" }, undefined]
    ]
    for (const [attrs, status] of rows) {
      assert.strictEqual(receiptStatus({ tag: "receipt", attrs })?.status, status, JSON.stringify(attrs))
    }
  })

  it("returns all ids in the receipt except invalid ones", () => {
    assert.deepStrictEqual(receiptStatus(receipt(["A", "B"])), { status: "read", ids: ["A", "B"] })
    assert.deepStrictEqual(receiptStatus(receipt(["A\u0000", "B", "C".repeat(300)])), { status: "read", ids: ["B"] })
  })
})
