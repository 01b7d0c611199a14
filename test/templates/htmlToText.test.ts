import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { compile, render } from "../../src/templates/Template.ts"
import type { Variables } from "../../src/templates/TemplatePart.ts"

const textOf = (html: string, values: Variables = {}) =>
  render(Result.getOrThrow(compile({ subject: "", html })), values).text

describe("htmlToText", () => {
  it("the derived text contains values unescaped, in headings, links, lists and alternative texts", () => {
    const html = `<!doctype html><html><head><title>no</title><style>a{b:c}</style></head><body>
      <h1>Hello {{name}}!</h1><p>Some   long ${"words ".repeat(30)}&amp; {{ user.name }}<br>next</p>
      <p><a href="https://x.example/u?t={{token}}&amp;b=1">Click</a> <a href="https://y.example">https://y.example</a></p>
      <ul><li>one {{name}}</li></ul><img src="https://z.example/p.png" alt="Logo of {{name}}">
      <script>alert(1)</script></body></html>`
    assert.strictEqual(
      textOf(html, { name: "R&D <x>", user: { name: "Ö" }, token: "a&b" }),
      [
        "Hello R&D <x>!",
        "",
        `Some long ${"words ".repeat(30)}& Ö`,
        "next",
        "",
        "Click <https://x.example/u?t=a&b&b=1> https://y.example",
        "",
        "* one R&D <x>",
        "",
        "Logo of R&D <x>"
      ].join("\n")
    )
  })

  it("the derived text keeps defaults", () => assert.strictEqual(textOf("<p>Hi {{name|R&D}}</p>"), "Hi R&D"))

  it("no text is derived if there is one, even an empty one", () => {
    assert.strictEqual(render(Result.getOrThrow(compile({ subject: "", html: "<p>x", text: "" })), {}).text, "")
  })

  it("the derived text keeps escaped braces as they print", () =>
    assert.strictEqual(textOf("<p>{{{{ a }} {{b}}</p>", { b: 1 }), "{{ a }} 1"))

  it("the derived text is not confused by the characters that carry placeholders", () => {
    assert.strictEqual(textOf("<p>\ue0000\ue001{{a}}</p>", { a: "x" }), "0x")
    assert.strictEqual(textOf("<p>[&#xe000;7&#xe001;]{{a}}</p>", { a: "x" }), "[]x")
  })

  const piece = Schema.Literals([
    "<p>",
    "</p>",
    "<b>",
    "x",
    " ",
    "<!--",
    "-->",
    "<a href='x'>",
    "</a>",
    "<",
    "&",
    "&lt;",
    "<table>",
    "<td>",
    "<li>"
  ])

  it.prop("a text is derived from any markup", { pieces: Schema.Array(piece) }, ({ pieces }) => {
    const text = textOf(`${pieces.join("")}`) ?? assert.fail("no text")
    assert.notInclude(text, "<table>")
  })

  it.prop(
    "the derived text prints each placeholder of running text once",
    { names: Schema.Array(Schema.Literals(["a", "b", "c"])) },
    ({ names }) => {
      const html = names.map((name) => `<p>{{${name}}}</p>`).join("")
      assert.strictEqual(textOf(html, { a: "A", b: "B", c: "C" }), names.map((name) => name.toUpperCase()).join("\n\n"))
    }
  )

  it("no text is derived from HTML that is too large or nested too deeply", () => {
    assert.isUndefined(textOf("<p>x</p>".repeat(20_000)))
    assert.isUndefined(textOf("<div>".repeat(3_000)))
    assert.isUndefined(textOf("<b></i>".repeat(3_000)))
    assert.isDefined(textOf("<p>x<br></p>".repeat(10_000)))
  })

  it("no text is derived if the library fails or its output is too large", () => {
    assert.isUndefined(textOf("<ol type=\"I\" start=\"10000\"><li>x</li></ol>"))
    assert.isUndefined(textOf(`${"<ol><li>".repeat(40)}${"x<br>".repeat(1_000)}`))
  })
})
