import { assert, describe, it } from "@effect/vitest"
import { noticeFrame } from "../../../../src/channels/email/notices/noticeFrame.ts"

const url = "https://messages.example"

const framed = (body: string, name = "Ann") => noticeFrame({ name, subject: "News & more", body }, url)

describe("noticeFrame", () => {
  it("frames the text with a greeting and the service's address", () => {
    const { html, text } = framed("It is broken.\n\nRepair it.\n")
    assert.strictEqual(
      text,
      "Hello Ann,\n\nIt is broken.\n\nRepair it.\n\n-- \n"
        + "You get this mail because it concerns your account at https://messages.example\n"
    )
    assert.include(html, "<title>News &amp; more</title>")
    assert.include(html, "<p>Hello Ann,</p>\n<p>It is broken.</p>\n<p>Repair it.</p>\n<hr>")
    assert.include(html, "<a href=\"https://messages.example\">https://messages.example</a>")
  })

  it("keeps line breaks and paragraphs", () => {
    const { html, text } = framed("one\ntwo\n \t\n\n\nthree")
    assert.include(text, "\n\none\ntwo\n\nthree\n\n")
    assert.include(html, "<p>one<br>two</p>\n<p>three</p>")
  })

  it("escapes markup in names and texts", () => {
    const { html } = framed("<script>alert(1)</script>", "<b>Ann</b>")
    assert.notInclude(html, "<script>")
    assert.include(html, "<p>Hello &lt;b&gt;Ann&lt;/b&gt;,</p>")
  })
})
