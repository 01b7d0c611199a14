import { assert, describe, it } from "@effect/vitest"
import { inboundEnvelope } from "../../../../src/channels/whatsapp/inbox/inboundEnvelope.ts"

describe("inboundEnvelope", () => {
  const from = "100000000000001:3@lid"

  it("names a chat by LID if it is known, and the author by both LID and number", () => {
    const byLid = inboundEnvelope({ tag: "message", attrs: { id: "A", from, sender_pn: "15550001:3@s.whatsapp.net" } })
    const byNumber = inboundEnvelope({
      tag: "message",
      attrs: { id: "A", from: "15550001@s.whatsapp.net", sender_lid: "100000000000001@lid" }
    })
    assert.strictEqual(byLid?.chat, "100000000000001@lid")
    assert.deepStrictEqual(byLid?.author, { lid: "100000000000001@lid", phone: "15550001" })
    assert.deepStrictEqual(byNumber, byLid)
  })

  it("puts a broadcast list's message into the chat with its author", () => {
    const list = { id: "A", from: "1700000000@broadcast", participant: from, participant_pn: "15550001@s.whatsapp.net" }
    const found = inboundEnvelope({ tag: "message", attrs: list })
    assert.deepInclude(found, { chat: "100000000000001@lid", isGroup: false })
    assert.deepStrictEqual(found?.author, { lid: "100000000000001@lid", phone: "15550001" })
    assert.isUndefined(inboundEnvelope({ tag: "message", attrs: { id: "A", from: list.from } }))
  })

  it("puts a hosted business's message into the chat with its number", () => {
    const hosted = inboundEnvelope({ tag: "message", attrs: { id: "A", from: "15550001:99@hosted" } })
    assert.deepInclude(hosted, { chat: "15550001@s.whatsapp.net" })
    const byLid = inboundEnvelope({ tag: "message", attrs: { id: "A", from: "100000000000001:99@hosted.lid" } })
    assert.deepInclude(byLid, { chat: "100000000000001@lid" })
    assert.deepStrictEqual(byLid?.author, { lid: "100000000000001@lid", phone: undefined })
  })

  it("refuses status posts, newsletters, device traffic, copies and invalid ids", () => {
    for (
      const attrs of [
        { id: "A", from: "status@broadcast", participant: from },
        { id: "A", from: "120363@newsletter" },
        { id: "A", from, category: "peer" },
        { id: "A", from, recipient: "15550002@s.whatsapp.net" },
        { from },
        { id: "A\u0000", from },
        { id: "A".repeat(256), from },
        { id: "A", from: "1\u00002@lid" },
        { id: "A", from: "1203@g.us", participant: `${"1".repeat(300)}@lid` },
        { id: "A", from: "15550001@s.whatsapp.net", sender_lid: "\u0000@lid" }
      ]
    ) assert.isUndefined(inboundEnvelope({ tag: "message", attrs }))
  })
})
