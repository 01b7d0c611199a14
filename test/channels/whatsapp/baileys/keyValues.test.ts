import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decodeValue, encodeValue } from "../../../../src/channels/whatsapp/baileys/keyValues.ts"

const bytes = (length: number, fill: number) => Buffer.alloc(length, fill)

describe("a value of WhatsApp's library", () => {
  it("is packed where it is a pair of keys, as a device has more than 800 of them", () => {
    const pair = { public: bytes(32, 1), private: bytes(32, 2) }
    assert.lengthOf(encodeValue(pair), 65)
    assert.deepStrictEqual(decodeValue(encodeValue(pair)), pair)
  })

  it.prop("is what it was, whatever it is made of", [Schema.Json, Schema.Uint8Array], ([json, raw]) => {
    const same = (value: unknown) => assert.deepStrictEqual(decodeValue(encodeValue(value)), value)
    same(Buffer.from(raw))
    // JSON knows no -0.
    const plain: unknown = JSON.parse(JSON.stringify(json))
    // A JSON text with the sign of bytes in it is not of the library.
    if (!JSON.stringify(json).includes("\"$\"")) same({ a: [plain, Buffer.from(raw)], b: { c: Buffer.from(raw) } })
  })
})
