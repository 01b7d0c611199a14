import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { templateTexts } from "../../src/templates/Templates.ts"

const text = Schema.optionalKey(Schema.NullOr(Schema.String))
const html = Schema.optionalKey(Schema.String)

describe("templateTexts", () => {
  it("the texts of a template are accepted under either name, and refused under the name that was used", () => {
    assert.deepStrictEqual(templateTexts({ body_html: "h", body_text: "t" }), {
      html: "h",
      text: "t",
      paramOf: { subject: "subject", html: "body_html", text: "body_text" }
    })
    assert.deepStrictEqual(templateTexts({}).paramOf, { subject: "subject", html: "html", text: "text" })
  })

  it("a null text differs from an absent one", () => {
    assert.isNull(templateTexts({ text: null, body_text: "t" }).text)
    assert.isNull(templateTexts({ body_text: null }).text)
    assert.isUndefined(templateTexts({}).text)
  })

  it.prop(
    "html and text take precedence over their aliases",
    { html, body_html: html, text, body_text: text },
    (input) => {
      const { html, paramOf, text } = templateTexts(input)
      assert.strictEqual(html, Object.hasOwn(input, "html") ? input.html : input.body_html)
      assert.strictEqual(text, Object.hasOwn(input, "text") ? input.text : input.body_text)
      // The name that a refusal uses was sent.
      if (html !== undefined) assert.isTrue(Object.hasOwn(input, paramOf.html))
      if (text !== undefined) assert.isTrue(Object.hasOwn(input, paramOf.text))
    }
  )
})
