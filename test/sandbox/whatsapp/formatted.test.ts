import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { formatted } from "../../../src/sandbox/whatsapp/pages/formatted.ts"

const shown = (text: string) => formatted(text).markup

describe("the text of a WhatsApp message", () => {
  it("bold, italic, strike and code are formatted, also inside each other", () => {
    assert.strictEqual(
      shown("*a* _b_ ~c~ `d` ```e\n*f*```"),
      "<strong>a</strong> <em>b</em> <s>c</s> <code>d</code> <code>e\n*f*</code>"
    )
    assert.strictEqual(shown("*all _of ~it~_*"), "<strong>all <em>of <s>it</s></em></strong>")
    assert.strictEqual(shown("(*a*, *b c*!)"), "(<strong>a</strong>, <strong>b c</strong>!)")
  })

  it("signs inside words, beside blanks and without a partner stay as they are", () => {
    for (const text of ["snake_case_name", "2*3*4", "* a *", "*a", "a*", "*a\nb*", "**", "~ ~", "``````"]) {
      assert.strictEqual(shown(text), text)
    }
  })

  it("addresses of the web are links without the punctuation that follows", () => {
    assert.strictEqual(
      shown("see https://x.example/a_b?c=1&d=2."),
      "see <a href=\"https://x.example/a_b?c=1&amp;d=2\" target=\"_blank\" rel=\"noreferrer\">https://x.example/a_b?c=1&amp;d=2</a>."
    )
    assert.notInclude(shown("javascript:alert(1) data:text/html,x"), "<a")
  })

  it.prop(
    "whatever the text is, the page has only the tags of formats and links, and keeps the words",
    [Schema.String],
    ([text]) => {
      if (!text.isWellFormed()) return
      const markup = shown(`<${text}>`)
      assert.deepStrictEqual(
        (markup.match(/<[^>]*>/g) ?? []).filter((tag) => !/^<\/?(?:strong|em|s|code|a)(?: [^<>]*)?>$/.test(tag)),
        []
      )
    }
  )
})
