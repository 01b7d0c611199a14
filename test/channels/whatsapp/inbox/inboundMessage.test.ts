import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import { Schema } from "effect"
import { inboundMessage } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"

const read = (message: proto.IMessage) => inboundMessage(proto.Message.encode(message).finish())

describe("inboundMessage", () => {
  it.prop("parses or refuses any bytes", [Schema.Uint8Array], ([bytes]) => {
    const found = inboundMessage(bytes)
    return found === undefined || typeof found.content.body === "string"
  })

  it.prop("returns no text that the database refuses", [Schema.String], ([text]) => {
    const found = read({ conversation: `${text}\u0000\ud800`, extendedTextMessage: { text: `\u0000${text}` } })
    const json = JSON.stringify(found?.content)
    return !json.includes("\\u0000") && !/\\ud[89a-f]/i.test(json)
  })

  it("returns no id that the database refuses", () => {
    assert.strictEqual(read({ extendedTextMessage: { contextInfo: { stanzaId: "A\u0000B" } } })?.refersTo, "AB")
  })

  it("returns the group of the message that is answered in private", () => {
    const answer = (remoteJid: string) => read({ extendedTextMessage: { contextInfo: { stanzaId: "A", remoteJid } } })
    assert.strictEqual(answer("1@g.us")?.refersToGroup, "1@g.us")
    assert.isUndefined(answer("1@lid")?.refersToGroup)
  })

  it("parses a message inside a wrapper", () => {
    const inner = { imageMessage: { caption: "once", mimetype: "image/png" } }
    for (const wrapped of [{ viewOnceMessageV2: { message: inner } }, { ephemeralMessage: { message: inner } }]) {
      assert.deepStrictEqual(read(wrapped), {
        type: "image",
        content: { body: "once", mime_type: "image/png" },
        refersTo: undefined,
        hasFile: false
      })
    }
  })

  it("returns the coordinates of a location and the numbers of a contact", () => {
    const place = { degreesLatitude: -1.95, degreesLongitude: 30.06, name: "Kigali" }
    assert.deepStrictEqual(read({ locationMessage: place })?.content, {
      body: "Kigali",
      latitude: -1.95,
      longitude: 30.06,
      name: "Kigali"
    })
    const vcard = "BEGIN:VCARD\nFN:Ann\nitem1.TEL;waid=250788123456:+250 788 123 456\nTEL:+15550100\nEND:VCARD"
    assert.deepStrictEqual(read({ contactMessage: { displayName: "Ann", vcard } })?.content, {
      body: "Ann",
      name: "Ann",
      phones: ["+250788123456", "+15550100"]
    })
  })

  it("returns the emoji of a reaction, and an empty one if it is removed", () => {
    const key = { id: "FIRST", fromMe: true }
    for (const emoji of ["👍", ""]) {
      assert.deepStrictEqual(read({ reactionMessage: { key, text: emoji } }), {
        type: "reaction",
        content: { body: emoji, emoji },
        refersTo: "FIRST",
        hasFile: false
      })
    }
    assert.deepStrictEqual(read({ reactionMessage: { key } })?.content, { body: "", emoji: "" })
  })

  it("returns the new text of an edit and the id of the edited message", () => {
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT
    const key = { id: "FIRST", fromMe: true }
    const edit = (editedMessage: proto.IMessage) => ({ protocolMessage: { type, key, editedMessage } })
    const expected = { type: "edit", content: { body: "better" }, refersTo: "FIRST", hasFile: false }
    for (const edited of [{ conversation: "better" }, { imageMessage: { caption: "better", mimetype: "image/png" } }]) {
      assert.deepStrictEqual(read(edit(edited)), expected)
      assert.deepStrictEqual(read({ editedMessage: { message: edit(edited) } }), expected)
    }
    assert.isUndefined(read(edit({})))
  })

  it("refuses messages between programs, and marks unknown kinds as unsupported", () => {
    assert.isUndefined(read({ senderKeyDistributionMessage: { groupId: "x" } }))
    assert.isUndefined(read({ protocolMessage: { type: proto.Message.ProtocolMessage.Type.REVOKE } }))
    assert.isUndefined(
      read({ pollUpdateMessage: { vote: { encPayload: new Uint8Array(8), encIv: new Uint8Array(12) } } })
    )
    assert.isUndefined(read({ deviceSentMessage: { message: { conversation: "own" } } }))
    assert.isUndefined(read({}))
    assert.deepStrictEqual(read({ productMessage: { body: "for sale" } })?.type, "unsupported")
  })
})
