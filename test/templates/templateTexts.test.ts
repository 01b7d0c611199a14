import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { templateTexts } from "../../src/templates/templateTexts.ts"

const text = Schema.optionalKey(Schema.NullOr(Schema.String))
const html = Schema.optionalKey(Schema.String)

describe("the texts of a template's request", () => {
  it("are taken under either name, and told of under the name that was used", () => {
    assert.deepStrictEqual(templateTexts({ body_html: "h", body_text: "t" }), {
      html: "h",
      text: "t",
      paramOf: { subject: "subject", html: "body_html", text: "body_text" }
    })
    assert.deepStrictEqual(templateTexts({}).paramOf, { subject: "subject", html: "html", text: "text" })
  })

  it("tell a text that is null from one that is left out", () => {
    assert.isNull(templateTexts({ text: null, body_text: "t" }).text)
    assert.isNull(templateTexts({ body_text: null }).text)
    assert.isUndefined(templateTexts({}).text)
  })

  it.prop(
    "are those of html and text wherever these are there, whatever else is",
    { html, body_html: html, text, body_text: text },
    (input) => {
      const { html, paramOf, text } = templateTexts(input)
      assert.strictEqual(html, Object.hasOwn(input, "html") ? input.html : input.body_html)
      assert.strictEqual(text, Object.hasOwn(input, "text") ? input.text : input.body_text)
      // The name that a refusal uses is one that was sent.
      if (html !== undefined) assert.isTrue(Object.hasOwn(input, paramOf.html))
      if (text !== undefined) assert.isTrue(Object.hasOwn(input, paramOf.text))
    }
  )
})
