import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { html } from "../../../src/platform/http/html.ts"

describe("html", () => {
  it("text and numbers are escaped, markup and lists of it are kept, and absent values are left out", () => {
    const inner = html`<b>${"<&>\"'"}</b>`
    assert.strictEqual(inner.markup, "<b>&lt;&amp;&gt;&quot;&#39;</b>")
    assert.strictEqual(html`${[inner, inner]}${1}${undefined}${null}${false}`.markup, `${inner.markup}${inner.markup}1`)
  })

  it.prop("no text can leave an element or a quoted attribute", [Schema.String], ([text]) => {
    const { markup } = html`<a title="${text}">${text}</a>`
    const [, attribute, content] = /^<a title="([^"]*)">([^]*)<\/a>$/.exec(markup) ?? []
    assert.isDefined(attribute)
    assert.strictEqual(attribute, content)
    assert.notMatch(attribute ?? "", /[<>'"]|&(?!(amp|lt|gt|quot|#39);)/)
    assert.isTrue(markup.isWellFormed())
  })
})
