import { assert, describe, it } from "@effect/vitest"
import { receiptNews } from "../../../../src/channels/whatsapp/outbox/receiptStatus.ts"

const receipt = (ids: ReadonlyArray<string>) => {
  const [id = "", ...more] = ids
  const items = more.map((item) => ({ tag: "item", attrs: { id: item } }))
  return { tag: "receipt", attrs: { id, type: "read" }, content: [{ tag: "list", attrs: {}, content: items }] }
}

describe("a receipt", () => {
  it("is about all messages that it names, but for ids that can be none", () => {
    assert.deepStrictEqual(receiptNews(receipt(["A", "B"])), { heard: "read", ids: ["A", "B"] })
    assert.deepStrictEqual(receiptNews(receipt(["A\u0000", "B", "C".repeat(300)])), { heard: "read", ids: ["B"] })
  })
})
