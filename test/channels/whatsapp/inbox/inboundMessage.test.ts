import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import { Schema } from "effect"
import { mergePeople } from "../../../../src/channels/whatsapp/directory/mergePeople.ts"
import { inboundEnvelope } from "../../../../src/channels/whatsapp/inbox/inboundEnvelope.ts"
import { inboundMessage, mediaPart } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"
import { mediaLocation } from "../../../../src/channels/whatsapp/inbox/mediaLocation.ts"

const read = (message: proto.IMessage) => inboundMessage(proto.Message.encode(message).finish())

describe("a message from outside", () => {
  it.prop("is read or refused, whatever its bytes are", [Schema.Uint8Array], ([bytes]) => {
    const found = inboundMessage(bytes)
    return found === undefined || typeof found.content.body === "string"
  })

  it.prop("has nothing in it that the database refuses", [Schema.String], ([text]) => {
    const found = read({ conversation: `${text}\u0000\ud800`, extendedTextMessage: { text: `\u0000${text}` } })
    const json = JSON.stringify(found?.content)
    return !json.includes("\\u0000") && !/\\ud[89a-f]/i.test(json)
  })

  it("refers to no id that the database refuses", () => {
    assert.strictEqual(read({ extendedTextMessage: { contextInfo: { stanzaId: "A\u0000B" } } })?.refersTo, "AB")
  })

  it("is read through what is wrapped around it", () => {
    const inner = { imageMessage: { caption: "once", mimetype: "image/png" } }
    for (const wrapped of [{ viewOnceMessageV2: { message: inner } }, { ephemeralMessage: { message: inner } }]) {
      assert.deepStrictEqual(read(wrapped), {
        type: "image",
        content: { body: "once", mime_type: "image/png" },
        refersTo: undefined
      })
    }
  })

  it("of a place or a person has its numbers", () => {
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

  it("that is a reaction has its emoji, an empty one when it is taken back", () => {
    const key = { id: "FIRST", fromMe: true }
    for (const emoji of ["👍", ""]) {
      assert.deepStrictEqual(read({ reactionMessage: { key, text: emoji } }), {
        type: "reaction",
        content: { body: emoji, emoji },
        refersTo: "FIRST"
      })
    }
    assert.deepStrictEqual(read({ reactionMessage: { key } })?.content, { body: "", emoji: "" })
  })

  it("that was edited has its new words, and says which message it was", () => {
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT
    const key = { id: "FIRST", fromMe: true }
    const edit = (editedMessage: proto.IMessage) => ({ protocolMessage: { type, key, editedMessage } })
    const expected = { type: "edit", content: { body: "better" }, refersTo: "FIRST" }
    for (const edited of [{ conversation: "better" }, { imageMessage: { caption: "better", mimetype: "image/png" } }]) {
      assert.deepStrictEqual(read(edit(edited)), expected)
      assert.deepStrictEqual(read({ editedMessage: { message: edit(edited) } }), expected)
    }
    assert.isUndefined(read(edit({})))
  })

  it("between programs is nobody's news, and what is not known is told of as such", () => {
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

describe("the outside of a message", () => {
  const from = "100000000000001:3@lid"

  it("names its chat once, by LID where that is known, and its author by both names", () => {
    const byLid = inboundEnvelope({ tag: "message", attrs: { id: "A", from, sender_pn: "15550001:3@s.whatsapp.net" } })
    const byNumber = inboundEnvelope({
      tag: "message",
      attrs: { id: "A", from: "15550001@s.whatsapp.net", sender_lid: "100000000000001@lid" }
    })
    assert.strictEqual(byLid?.chat, "100000000000001@lid")
    assert.deepStrictEqual(byLid?.author, { lid: "100000000000001@lid", phone: "15550001" })
    assert.deepStrictEqual(byNumber, byLid)
  })

  it("of a list of the author's is in the chat with him", () => {
    const list = { id: "A", from: "1700000000@broadcast", participant: from, participant_pn: "15550001@s.whatsapp.net" }
    const found = inboundEnvelope({ tag: "message", attrs: list })
    assert.deepInclude(found, { chat: "100000000000001@lid", isGroup: false })
    assert.deepStrictEqual(found?.author, { lid: "100000000000001@lid", phone: "15550001" })
    assert.isUndefined(inboundEnvelope({ tag: "message", attrs: { id: "A", from: list.from } }))
  })

  it("of a business that WhatsApp hosts is in the chat with its number", () => {
    const hosted = inboundEnvelope({ tag: "message", attrs: { id: "A", from: "15550001:99@hosted" } })
    assert.deepInclude(hosted, { chat: "15550001@s.whatsapp.net" })
    const byLid = inboundEnvelope({ tag: "message", attrs: { id: "A", from: "100000000000001:99@hosted.lid" } })
    assert.deepInclude(byLid, { chat: "100000000000001@lid" })
    assert.deepStrictEqual(byLid?.author, { lid: "100000000000001@lid", phone: undefined })
  })

  it("is of no chat for posts, newsletters, words between devices, copies, and names that are none", () => {
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

describe("the file of a message", () => {
  const part = (url: string, directPath: string) => {
    const image = { url, directPath, mediaKey: new Uint8Array(32), mimetype: "image/png" }
    return mediaPart(proto.Message.encode({ imageMessage: image }).finish()) ?? assert.fail("has no file")
  }

  it("is fetched from WhatsApp's own hosts, and beside the real one from this machine", () => {
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

describe("people", () => {
  const person = { lid: undefined, phone: undefined, name: undefined, isNamed: false }

  it("are one where they share a name, and the address book's word holds", () => {
    assert.deepStrictEqual(
      mergePeople([
        { ...person, lid: "1@lid", name: "Annie" },
        { ...person, phone: "15550001", name: "Ann Smith", isNamed: true },
        { ...person, lid: "1@lid", phone: "15550001" },
        { ...person, lid: "1@lid", name: "annie\u0000" },
        person
      ]),
      [{ lid: "1@lid", phone: "15550001", name: "Ann Smith", isNamed: true }]
    )
  })

  it.prop(
    "never have one name twice",
    [Schema.Array(Schema.Struct({
      lid: Schema.Union([Schema.Literals(["1@lid", "2@lid"]), Schema.Undefined]),
      phone: Schema.Union([Schema.Literals(["1", "2"]), Schema.Undefined])
    }))],
    ([people]) => {
      const merged = mergePeople(people.map((one) => ({ ...person, ...one })))
      const lids = merged.flatMap(({ lid }) => lid ?? [])
      const phones = merged.flatMap(({ phone }) => phone ?? [])
      return new Set(lids).size === lids.length && new Set(phones).size === phones.length
    }
  )
})
