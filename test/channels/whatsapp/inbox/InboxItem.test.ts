import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import { Option, Schema } from "effect"
import { inboundMessage } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"
import { encodePayload, inboxItem, inboxPlace, openPayload } from "../../../../src/channels/whatsapp/inbox/InboxItem.ts"
import { encrypt } from "../../../../src/platform/crypto/gcm.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"

const item = { id: 1, chat: "1@lid", whatsappId: "A" }
const attrs = { id: "A", from: "1@lid" }
const key = new Uint8Array(32).fill(7)
const place = inboxPlace(WhatsAppSessionId.make(1), item.chat, item.whatsappId)

const bytesOf = (message: proto.IMessage) => proto.Message.encode(message).finish()

/** Encrypts and stores a payload, and opens it again. */
const stored = (payload: Parameters<typeof encodePayload>[0]) =>
  Option.getOrUndefined(openPayload(key, place, encrypt(key, place, encodePayload(payload))))

describe("inboxItem", () => {
  const body = bytesOf({ conversation: "Hello" })
  const message = inboundMessage(body) ?? assert.fail("was not parsed")

  it("returns the stored message without parsing the body again", () => {
    const found = inboxItem(item, stored({ attrs, body: new Uint8Array([255]), message }))
    assert.deepInclude(found, { kind: "message", isGroup: false })
    assert.deepInclude(found.kind === "message" ? found.message : undefined, {
      type: "text",
      content: { body: "Hello" },
      hasFile: false
    })
  })

  it("parses the body of a row that an older version stored", () => {
    const old = inboxItem(item, stored({ attrs, body }))
    assert.deepStrictEqual(old.kind === "message" ? old.message : undefined, message)
  })

  it("returns nothing for a payload that cannot be opened", () => {
    const sealed = encrypt(new Uint8Array(32), place, encodePayload({ attrs, body, message }))
    const payload = Option.getOrUndefined(openPayload(key, place, sealed))
    assert.strictEqual(inboxItem(item, payload).kind, "nothing")
  })

  it.prop("returns any parsed message as it was stored", [Schema.String, Schema.Finite], ([text, number]) => {
    const contents = [
      bytesOf({ extendedTextMessage: { text, contextInfo: { stanzaId: text } } }),
      bytesOf({ locationMessage: { degreesLatitude: number, degreesLongitude: -number, name: text } }),
      bytesOf({ audioMessage: { seconds: Math.trunc(number) >>> 0, mimetype: text, mediaKey: key } })
    ]
    for (const bytes of contents) {
      const parsed = inboundMessage(bytes) ?? assert.fail("was not parsed")
      const found = stored({ attrs, body: bytes, message: parsed })?.message
      assert.deepStrictEqual(found?.content, JSON.parse(JSON.stringify(parsed.content)))
      assert.strictEqual(found?.refersTo, parsed.refersTo)
    }
  })

  it("stores the coordinates of a location as null if they are not finite", () => {
    const place = { degreesLatitude: Infinity, degreesLongitude: Number.NaN }
    const parsed = inboundMessage(bytesOf({ locationMessage: place })) ?? assert.fail("was not parsed")
    assert.deepInclude(stored({ attrs, message: parsed })?.message?.content, { latitude: null, longitude: null })
  })
})
