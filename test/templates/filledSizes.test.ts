import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { filledSizes } from "../../src/templates/filledSizes.ts"
import { compile, render, type TemplateSource } from "../../src/templates/Template.ts"

const compiled = (source: TemplateSource) => Result.getOrThrow(compile(source))

const piece = Schema.Literals(
  [
    "a",
    " ",
    "<b>",
    "&",
    "'",
    "\"",
    "\u00fc",
    "\u6f22",
    "\ud83d\ude00",
    "{{a}}",
    "{{ a }}",
    "{{b|<\u00fc>}}",
    "{{c.d|}}",
    "{{e}}"
  ]
)
const text = Schema.Array(piece)
const value = Schema.Array(Schema.Literals(["x", "<", "'", "\"", "&", "\u00e9", "\u6f22", "\ud83d\ude00", "{{a}}"]))

describe("filledSizes", () => {
  it.prop(
    "the computed sizes equal those of the rendered texts, in UTF-16 units for the subject and bytes for the others",
    { subject: text, html: text, text, a: value, b: value, e: Schema.Union([Schema.Int, Schema.Boolean, Schema.Null]) },
    ({ a, b, e, html, subject, text }) => {
      const template = compiled({ subject: subject.join(""), html: html.join(""), text: text.join("") })
      const sizesOf = filledSizes(template)
      for (const values of [{}, { a: a.join(""), b: b.join(""), e }, { b: b.join(""), c: { d: a.join("") } }]) {
        const made = render(template, values)
        assert.deepStrictEqual(sizesOf(values), {
          subject: made.subject.length,
          html: Buffer.byteLength(made.html ?? ""),
          text: Buffer.byteLength(made.text ?? "")
        })
      }
    }
  )

  it("the size of an absent text is 0", () => {
    assert.deepStrictEqual(filledSizes(compiled({ subject: "{{a}}" }))({ a: "x" }), { subject: 1, html: 0, text: 0 })
  })

  it("the sizes for 500 recipients of a text with a thousand places are computed without rendering", () => {
    const sizesOf = filledSizes(compiled({ subject: "", html: "", text: "{{a}}".repeat(1_000) }))
    const a = "x".repeat(4_000_000)
    for (let recipient = 0; recipient < 500; recipient++) {
      assert.strictEqual(sizesOf({ a }).text, 4_000_000_000)
    }
  })
})
