import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { detectedType, mediaMismatch, type MediaType } from "../../../../src/channels/whatsapp/content/media.ts"

const hex = (text: string) => Buffer.from(text, "hex")

const png = hex("89504e470d0a1a0a0000000d49484452")
const jpeg = hex("ffd8ffe000104a464946")
const webp = hex("52494646aaaaaaaa57454250")
const mp4 = hex("00000018667479706d70343200000000")
const wav = hex("52494646aaaaaaaa57415645")
const pdf = Buffer.from("%PDF-1.7 a bill")
const words = Buffer.from("Grüße, no picture at all\n")
const drawing = Buffer.from("<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>")

describe("mediaMismatch", () => {
  it("rejects bytes that are clearly of another kind", () => {
    const wrong: ReadonlyArray<readonly [MediaType, Buffer]> = [
      ["image", pdf],
      ["image", wav],
      ["video", png],
      ["audio", jpeg],
      ["image", words],
      ["audio", words],
      ["video", drawing],
      ["image", drawing]
    ]
    for (const [kind, bytes] of wrong) {
      assert.strictEqual(mediaMismatch(kind, bytes, undefined)?.field, "base64", `${kind} ${bytes.toString("hex")}`)
    }
  })

  it("rejects a declared type that differs from the type of the bytes", () => {
    assert.strictEqual(mediaMismatch("image", png, "image/JPEG")?.field, "mime_type")
    assert.strictEqual(mediaMismatch("document", png, "application/pdf")?.field, "mime_type")
    assert.isUndefined(mediaMismatch("image", png, "IMAGE/png"))
  })

  it("accepts containers, and any bytes for a document", () => {
    assert.isUndefined(mediaMismatch("video", mp4, "video/mp4"))
    assert.isUndefined(mediaMismatch("audio", mp4, "audio/mp4"))
    for (const bytes of [png, pdf, words, mp4, drawing]) assert.isUndefined(mediaMismatch("document", bytes, undefined))
    const sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert.isUndefined(mediaMismatch("document", hex("504b0304140000000000"), sheet))
  })

  it("rejects a drawing as an image and accepts it as a document", () => {
    assert.match(mediaMismatch("image", drawing, "image/png")?.message ?? "", /WhatsApp does not show image\/svg\+xml/)
    assert.isUndefined(mediaMismatch("document", drawing, "image/svg+xml"))
  })

  it.prop(
    "accepts any bytes for a document",
    [Schema.Uint8Array],
    ([bytes]) => mediaMismatch("document", bytes, undefined) === undefined
  )
})

describe("detectedType", () => {
  it("returns the type that the bytes show if it fits the message", () => {
    assert.strictEqual(detectedType("image", webp), "image/webp")
    assert.strictEqual(detectedType("document", pdf), "application/pdf")
    assert.isUndefined(detectedType("document", words))
    assert.isUndefined(detectedType("video", mp4))
  })
})
