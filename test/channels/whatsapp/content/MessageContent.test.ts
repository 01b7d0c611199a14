import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type MessageType, readContent } from "../../../../src/channels/whatsapp/content/MessageContent.ts"

/** The violations of a content, as `param: message`. */
const problems = (type: MessageType, content: unknown): ReadonlyArray<string> =>
  Result.match(readContent(type, content), {
    onSuccess: () => [],
    onFailure: (all) => all.map(({ message, param }) => `${param}: ${message}`)
  })

const file = (mime_type: string) => ({ url: "https://files.example.com/a", mime_type })

describe("readContent", () => {
  it("allows 4,096 characters of text and 1,024 of a caption, and counts an emoji as one", () => {
    assert.deepStrictEqual(problems("text", { body: "😀".repeat(4_096) }), [])
    assert.deepStrictEqual(problems("text", { body: "😀".repeat(4_097) }), [
      "content.body: must have at most 4096 characters"
    ])
    const captioned = (count: number) => ({ url: "https://files.example.com/a", caption: "😀".repeat(count) })
    assert.deepStrictEqual(problems("image", captioned(1_024)), [])
    assert.deepStrictEqual(problems("image", captioned(1_025)), [
      "content.caption: must have at most 1024 characters"
    ])
  })

  it("reads the short forms that people and programs write", () => {
    const read = (type: MessageType, content: unknown): unknown =>
      Result.match(readContent(type, content), { onSuccess: (read) => read.content, onFailure: () => undefined })
    const place = { latitude: -1.94, longitude: 30.06 }
    assert.deepStrictEqual(read("location", "-1.94,30.06"), place)
    assert.deepStrictEqual(read("location", " -1.94 , 30.06 "), place)
    assert.deepStrictEqual(read("location", JSON.stringify(place)), place)
    const ada = { name: "Ada", phones: ["+250788123456"] }
    assert.deepStrictEqual(read("contact", { name: "Ada", phone: "+250788123456" }), ada)
    assert.deepStrictEqual(read("contact", JSON.stringify(ada)), ada)
    const image = { url: "https://files.example.com/a", caption: "Here" }
    for (const type of ["image", "video", "document"] as const) {
      assert.deepStrictEqual(read(type, JSON.stringify(image)), image)
    }
    assert.deepStrictEqual(read("audio", JSON.stringify({ url: image.url })), { url: image.url })
    assert.deepStrictEqual(read("image", image.url), { url: image.url })
    assert.deepStrictEqual(read("text", `{"body": "as it is"}`), { body: `{"body": "as it is"}` })
  })

  it("shows an example when a text is not the content of its type", () => {
    assert.deepStrictEqual(problems("location", "Kigali"), [
      `content: must be an object, such as {"latitude": -1.94, "longitude": 30.06, "name": "Kigali"}`
    ])
    assert.deepStrictEqual(problems("poll", "Lunch?"), [
      `content: must be an object, such as {"question": "Lunch?", "options": ["yes", "no"]}`
    ])
  })

  it("rejects a blank question, option or contact name with one violation each", () => {
    const poll = (question: string, option: string) => ({ question, options: ["yes", option] })
    assert.deepStrictEqual(problems("poll", poll("Lunch?", "no")), [])
    assert.deepStrictEqual(problems("poll", poll(" \n", "no")), ["content.question: must not be blank"])
    assert.deepStrictEqual(problems("poll", poll("Lunch?", "\u00a0")), ["content.options[1]: must not be blank"])
    const contact = { name: " ", phones: ["+15550100200"] }
    assert.deepStrictEqual(problems("contact", contact), ["content.name: must not be blank"])
  })

  it("accepts media types with parameters, such as WhatsApp's own for voice notes", () => {
    for (const type of ["audio/ogg; codecs=opus", "audio/ogg;codecs=opus", "audio/mp4; codecs=\"mp4a.40.2, x\"; a=b"]) {
      assert.deepStrictEqual(problems("audio", file(type)), [], type)
    }
    assert.deepStrictEqual(problems("video", file("video/mp4; codecs=avc1")), [])
    assert.deepStrictEqual(problems("document", file("text/plain; charset=utf-8")), [])
  })

  it("explains a wrong media type: its kind, its parameters, or characters that would break a header", () => {
    const at = "content.mime_type: "
    const says = (type: MessageType, text: string) => problems(type, file(text))[0]
    assert.strictEqual(says("audio", "video/mp4; codecs=avc1"), `${at}must be a media type that begins with audio/`)
    assert.strictEqual(says("audio", "audio/"), `${at}must be a media type that begins with audio/`)
    assert.strictEqual(says("document", "pdf"), `${at}must be a media type, such as application/pdf`)
    for (
      const bad of ["audio/ogg; codecs", "audio/ogg;", "audio/ogg; codecs=\"opus", "audio/ogg; a=b c", "audio/ogg; a=é"]
    ) {
      assert.strictEqual(
        says("audio", bad),
        `${at}must have its parameters as name=value after a semicolon, as in audio/ogg; codecs=opus`,
        bad
      )
    }
    for (const bad of ["audio/ogg; a=b\r\nX: y", "audio/ogg; a=\"b\nc\"", "audio/ogg\n"]) {
      assert.strictEqual(says("audio", bad), `${at}must not contain line breaks or control characters`, bad)
    }
    assert.isDefined(says("audio", `audio/ogg; a=${"b".repeat(300)}`))
  })

  it("rejects a drawing as an image, which WhatsApp does not show, and accepts it as a document", () => {
    for (const type of ["image/svg+xml", "Image/SVG+xml; charset=utf-8"]) {
      const refused = problems("image", file(type))
      assert.match(refused[0] ?? "", /^content\.mime_type: must be a bitmap, .* send it as a document$/)
      assert.deepStrictEqual(problems("document", file(type)), [])
    }
    for (const type of ["image/jpeg", "image/png", "image/webp", "image/gif"]) {
      assert.deepStrictEqual(problems("image", file(type)), [])
    }
  })

  it("accepts one emoji as a reaction, an empty text to remove it, and nothing else", () => {
    const of = (emoji: string) => problems("reaction", { message_id: 1, emoji })
    for (const emoji of ["", "👍", "👍🏽", "❤️", "❤", "🇷🇼", "1️⃣", "👨‍👩‍👧‍👦", "👨🏻‍❤️‍💋‍👨🏻", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "⚕️"]) {
      assert.deepStrictEqual(of(emoji), [], emoji)
    }
    for (const text of ["hello", "1", "#", " ", "👍👍", "👍 ", "👍a", "\u200d", "\ufe0f", "🇷", "👍\u0301"]) {
      assert.deepStrictEqual(of(text), ["content.emoji: must be one emoji, or empty to remove the reaction"], text)
    }
  })
})
