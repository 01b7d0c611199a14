import { assert, describe, it } from "@effect/vitest"
import * as StanzaRoom from "../../../../src/channels/whatsapp/baileys/StanzaRoom.ts"

describe("StanzaRoom", () => {
  it("a connection has room up to its share, and again once messages are handled", () => {
    const one = StanzaRoom.make({ total: 100, share: 30 }).connection()
    assert.deepStrictEqual([one.take(20), one.take(10), one.take(1)], [true, true, false])
    one.free(20)
    assert.deepStrictEqual([one.take(20), one.take(1)], [true, false])
  })

  it("all connections together have room up to the limit of the node", () => {
    const room = StanzaRoom.make({ total: 50, share: 30 })
    const [one, other] = [room.connection(), room.connection()]
    assert.deepStrictEqual([one.take(30), other.take(15), other.take(10)], [true, true, false])
    one.free(30)
    assert.isTrue(other.take(10))
  })

  it("a connection without waiting messages takes any message, so that each makes progress", () => {
    const room = StanzaRoom.make({ total: 50, share: 30 })
    assert.isTrue(room.connection().take(60))
    assert.isTrue(room.connection().take(1))
  })

  it("a stanza's size is its bytes and those of its elements", () => {
    const enc = { tag: "enc", attrs: {}, content: new Uint8Array(1_000) }
    assert.strictEqual(StanzaRoom.bytesOf({ tag: "message", attrs: {}, content: [enc, enc] }), 3_500)
  })
})
