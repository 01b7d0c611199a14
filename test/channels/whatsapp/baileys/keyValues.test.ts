import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decodeValue, encodeValue } from "../../../../src/channels/whatsapp/baileys/keyValues.ts"

const bytes = (length: number, fill: number) => Buffer.alloc(length, fill)

describe("encodeValue", () => {
  it("packs a pair of keys into 65 bytes", () => {
    const pair = { public: bytes(32, 1), private: bytes(32, 2) }
    assert.lengthOf(encodeValue(pair), 65)
    assert.deepStrictEqual(decodeValue(encodeValue(pair)), pair)
  })

  it.prop(
    "encodes JSON and bytes so that decodeValue returns them unchanged",
    [Schema.Json, Schema.Uint8Array],
    ([json, raw]) => {
      const same = (value: unknown) => assert.deepStrictEqual(decodeValue(encodeValue(value)), value)
      same(Buffer.from(raw))
      // JSON has no -0.
      const plain: unknown = JSON.parse(JSON.stringify(json))
      // The library has no JSON with the marker of bytes in it.
      if (!JSON.stringify(json).includes("\"$\"")) same({ a: [plain, Buffer.from(raw)], b: { c: Buffer.from(raw) } })
    }
  )
})
