import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import * as MessageEnvelopes from "../../../../src/channels/whatsapp/baileys/MessageEnvelopes.ts"
import { inboundMessage } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"

const own = "15550001@s.whatsapp.net"
const message = { conversation: "hello" }

const stanza = (attrs: Readonly<Record<string, string>>, encs = 0) => ({
  tag: "message",
  attrs,
  content: Array.from({ length: encs }, () => ({ tag: "enc", attrs: {}, content: new Uint8Array(1) }))
})

const answer = (...infos: ReadonlyArray<proto.IWebMessageInfo | Uint8Array>) =>
  proto.Message.encode({
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationResult: infos.map((info) => ({
          placeholderMessageResendResponse: {
            webMessageInfoBytes: info instanceof Uint8Array ? info : proto.WebMessageInfo.encode(info).finish()
          }
        }))
      }
    }
  }).finish()

const peer = (from: string) => stanza({ id: "P", from, category: "peer" }, 1)

const make = () => {
  const envelopes = MessageEnvelopes.make((jid) => jid === own)
  return {
    note: envelopes.note,
    /** The copies inside a message that was decrypted from this stanza. */
    of: (envelope: ReturnType<typeof stanza>, plaintext: Uint8Array) => {
      envelopes.note(envelope)
      return envelopes.messagesOf(envelope.content[0]?.content ?? new Uint8Array(), plaintext).slice(1)
    }
  }
}

describe("a copy of a message from the session's phone", () => {
  it("gets the stanza of the unreadable message, which a later stanza cannot replace", () => {
    const resends = make()
    const attrs = { id: "A", from: "15550002@s.whatsapp.net", sender_lid: "1@lid", t: "1700000000", notify: "Ann" }
    resends.note(stanza(attrs))
    resends.note(stanza({ id: "A", from: "15550003@s.whatsapp.net" }))
    const [found, ...more] = resends.of(
      peer(own),
      answer({ key: { id: "A", remoteJid: "15550002@s.whatsapp.net" }, message })
    )
    assert.deepStrictEqual(found?.envelope.attrs, attrs)
    assert.strictEqual(inboundMessage(found?.plaintext ?? new Uint8Array())?.content.body, "hello")
    assert.deepStrictEqual(more, [])
  })

  it("is ignored from any other sender, and skips invalid parts", () => {
    const resends = make()
    resends.note(stanza({ id: "A", from: "1@lid" }))
    const info = { key: { id: "A", remoteJid: "1@lid" }, message }
    assert.deepStrictEqual(resends.of(peer("15550009@s.whatsapp.net"), answer(info)), [])
    assert.deepStrictEqual(resends.of(stanza({ id: "P", from: own }, 1), answer(info)), [])
    assert.strictEqual(resends.of(peer(own), answer(Uint8Array.of(255, 255), { key: info.key }, info)).length, 1)
    assert.deepStrictEqual(resends.of(peer(own), Uint8Array.of(255, 255)), [])
  })

  it("is accepted after a reconnect if its chat has only one id", () => {
    const resends = make()
    const chatOf = (key: proto.IMessageKey) =>
      resends.of(peer(own), answer({ key: { id: "A", ...key }, messageTimestamp: 1_700_000_000, message }))
        .map(({ envelope }) => envelope.attrs)
    assert.deepStrictEqual(chatOf({ remoteJid: "1203@g.us", participant: "1@lid" }), [
      { id: "A", from: "1203@g.us", participant: "1@lid", t: "1700000000", notify: "" }
    ])
    assert.deepStrictEqual(chatOf({ remoteJid: "1@lid" }), [{ id: "A", from: "1@lid", t: "1700000000", notify: "" }])
    assert.deepStrictEqual(chatOf({ remoteJid: "15550002@s.whatsapp.net" }), [])
    assert.deepStrictEqual(chatOf({ remoteJid: "1@lid", fromMe: true }), [])
  })

  it("finds only the last hundred unreadable stanzas", () => {
    const resends = make()
    const isKnown = (id: string) =>
      resends.of(peer(own), answer({ key: { id, remoteJid: "15550002@s.whatsapp.net" }, message })).length === 1
    const first = stanza({ id: "0", from: "1@lid" }, 1)
    for (let id = 0; id <= 100; id++) resends.note(stanza({ id: `${id}`, from: "1@lid" }, 1))
    assert.deepStrictEqual([isKnown("0"), isKnown("1"), isKnown("100")], [false, true, true])
    resends.note(first)
    resends.of(first, new Uint8Array())
    assert.isFalse(isKnown("0"))
  })
})
