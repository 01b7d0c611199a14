import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import { Schema } from "effect"
import { inboundEnvelope } from "../../../../src/channels/whatsapp/inbox/inboundEnvelope.ts"
import { inboundMessage, mediaPart } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"
import { mediaLocation } from "../../../../src/channels/whatsapp/inbox/mediaLocation.ts"

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

describe("mediaLocation", () => {
  const part = (url: string, directPath: string) => {
    const image = { url, directPath, mediaKey: new Uint8Array(32), mimetype: "image/png" }
    return mediaPart(proto.Message.encode({ imageMessage: image }).finish()) ?? assert.fail("has no file")
  }

  it("allows only WhatsApp's own hosts, and this machine if WhatsApp is simulated", () => {
    const whatsapp = "https://media-fra1.cdn.whatsapp.net/v/x"
    assert.strictEqual(mediaLocation(part(whatsapp, "/v/y"), true), "https://media-fra1.cdn.whatsapp.net/v/y")
    assert.strictEqual(mediaLocation(part("https://evil.example/", "/v/y"), true), "https://mmg.whatsapp.net/v/y")
    assert.isUndefined(mediaLocation(part("https://evil.example/whatsapp.net", ""), true))
    assert.isUndefined(mediaLocation(part("https://evilwhatsapp.net/", ""), true))
    assert.isUndefined(mediaLocation(part("http://127.0.0.1:1/x", ""), true))
    assert.strictEqual(mediaLocation(part("http://127.0.0.1:1/x", ""), false), "http://127.0.0.1:1/x")
    assert.isUndefined(mediaLocation(part("http://169.254.169.254/x", ""), false))
  })
})
