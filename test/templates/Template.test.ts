import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { compile, missing, render, type TemplateSource } from "../../src/templates/Template.ts"
import type { Variables } from "../../src/templates/TemplatePart.ts"

const compiled = (source: TemplateSource) => Result.getOrThrow(compile(source))

const html = (source: string, values: Variables = {}) =>
  render(compiled({ subject: "", html: source, text: "" }), values).html

const text = (source: string, values: Variables = {}) => render(compiled({ subject: "", text: source }), values).text

const fault = (source: string) => {
  const result = compile({ subject: "", text: source })
  return Result.isFailure(result) ? result.failure[0] : undefined
}

/** Pieces with a meaning in the language, in HTML, in a header or in a regular expression. */
const piece = Schema.Literals(
  [
    "a",
    " ",
    "}}",
    "}",
    "<b>",
    "&",
    "'",
    "\"",
    "$&",
    "$1",
    "\r\n",
    "\t",
    "\ud83d\ude00",
    "\ud83d",
    "\ue000",
    "\ue0000\ue001",
    "|",
    "\\"
  ]
)
const literal = Schema.Array(piece)
const value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])

describe("placeholders", () => {
  it("a placeholder is replaced by a string, number or boolean, with and without spaces", () => {
    assert.strictEqual(text("{{a}} {{ b }} {{\n\tc\n}}", { a: "x", b: 0, c: false }), "x 0 false")
  })

  it("a placeholder reads one level of objects", () => {
    assert.strictEqual(text("{{ user.name }}", { user: { name: "Ana" } }), "Ana")
    assert.strictEqual(text("[{{ user.name }}]", { "user.name": "flat" }), "[]")
  })

  it("a placeholder's default replaces a missing or null value, not an empty one", () => {
    assert.strictEqual(text("Hi {{name | dear friend}}!", {}), "Hi dear friend!")
    assert.strictEqual(text("Hi {{name|you}}!", { name: null }), "Hi you!")
    assert.strictEqual(text("Hi {{name|you}}!", { name: "" }), "Hi !")
    assert.strictEqual(text("Hi {{name|}}!", {}), "Hi !")
  })

  it("a placeholder's default is text, escaped like a value", () => assert.strictEqual(html("{{a|R&D}}"), "R&amp;D"))

  it("objects, arrays and functions count as missing values", () => {
    const template = compiled({ subject: "", text: "{{a}}{{b}}{{c}}" })
    assert.deepStrictEqual(missing(template, { a: {}, b: [1], c: () => 1 }), ["a", "b", "c"])
  })

  it("a placeholder never reads the prototype chain", () => {
    const names = ["toString", "valueOf", "hasOwnProperty", "a.toString", "a.length", "b.length"]
    const template = compiled({ subject: "", text: names.map((name) => `{{${name}}}`).join("") })
    assert.deepStrictEqual(missing(template, { a: {}, b: "text" }), names)
    assert.deepStrictEqual(missing(template, Object.create({ toString: "x", valueOf: "x" })), names)
  })

  it("a placeholder cannot name __proto__, constructor or prototype", () => {
    for (const name of ["__proto__", "constructor", "prototype", "a.__proto__", "constructor.name", "__proto__|x"]) {
      assert.match(fault(`{{ ${name} }}`)?.message ?? "", /reserved/)
    }
  })
})

describe("refused templates", () => {
  const refused = [
    "{{}}",
    "{{ }}",
    "{{ 1a }}",
    "{{ a b }}",
    "{{ a.b.c }}",
    "{{ a. }}",
    "{{ .a }}",
    "{{#if a}}",
    "{{/if}}",
    "{{> part}}",
    "{{! note }}",
    "{{&a}}",
    "{{{a}}}",
    "{{a|{b}}}",
    "{{a",
    "{{ a {{ b }}",
    "{{ä}}",
    "{{a()}}",
    "{{a[0]}}",
    "{{ a | b {{ c }}"
  ]

  for (const source of refused) it(`a template with ${source} is refused`, () => assert.isDefined(fault(source)))

  it("a refusal names part, line, column and reason", () => {
    const result = compile({ subject: "{{ok}}", html: "<p>\r\n{{ok}}\r  {{ not ok }}</p>", text: "{{ok}}" })
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) {
      const [{ column = 0, line = 0, part = "", reason = "" } = {}] = result.failure
      assert.deepStrictEqual({ part, line, column }, { part: "html", line: 3, column: 3 })
      assert.include(reason, "{{ not ok }}")
    }
  })

  it("a refusal names the first fault of each text", () => {
    const result = compile({ subject: "{{", html: "{{a}}", text: "{{1}} {{2}}" })
    const faults = Result.isFailure(result) ? result.failure : []
    assert.deepStrictEqual(faults.map(({ column, part }) => [part, column]), [["subject", 1], ["text", 1]])
  })

  it("a refusal is short, however long the placeholder is", () => {
    assert.isBelow(fault(`{{ ${"x ".repeat(500_000)} }}`)?.reason.length ?? 0, 200)
  })
})

describe("rendering", () => {
  it("rendering prints {{ for {{{{ and leaves }} unchanged", () => {
    assert.strictEqual(text("{{{{ name }} {{a}} @media{a{b}}", { a: 1 }), "{{ name }} 1 @media{a{b}}")
  })

  it("rendering escapes values in HTML only", () => {
    const source = { subject: "{{v}}", html: "<p title='{{v}}'>{{v}}</p>", text: "{{v}}" }
    const v = "<a href=\"x\">&'"
    const escaped = "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"
    assert.deepStrictEqual(render(compiled(source), { v }), {
      subject: v,
      html: `<p title='${escaped}'>${escaped}</p>`,
      text: v
    })
  })

  it("rendering replaces line breaks and control characters in the subject by spaces", () => {
    const template = compiled({ subject: "a\r\nb{{v}}\0{{w|x\ty}}", text: "" })
    assert.strictEqual(render(template, { v: "\r\nBcc: e@x\n\u0085\u2028" }).subject, "a b Bcc: e@x    x y")
  })

  it.prop(
    "rendering succeeds for any variables",
    {
      values: Schema.Record(Schema.String, Schema.Json),
      inner: Schema.Record(Schema.Literals(["a", "b"]), Schema.Json)
    },
    ({ inner, values }) => {
      const template = compiled({ subject: "{{a}}{{b.a}}", html: "{{a|x}}{{b.b}}{{toString}}" })
      for (const variables of [values, inner, { b: values }]) {
        const { html, subject, text } = render(template, variables)
        assert.strictEqual(typeof `${subject}${html}${text}`, "string")
        assert.isAtMost(missing(template, variables).length, 4)
      }
    }
  )

  it.prop("rendering keeps literal text unchanged", { pieces: literal }, ({ pieces }) => {
    const source = pieces.join("")
    assert.deepStrictEqual(text(source), source)
    assert.deepStrictEqual(html(source), source)
  })

  it.prop(
    "rendering returns any text whose {{ are doubled",
    { source: Schema.Array(Schema.Literals(["{", "}", "a", "|"])) },
    ({ source }) => {
      const wanted = source.join("")
      const doubled = wanted.replaceAll("{{", "{{{{")
      // A single brace before a doubled pair would be parsed as part of it.
      if (!doubled.includes("{{{{{")) assert.strictEqual(text(doubled), wanted)
    }
  )

  it.prop(
    "rendering lets no markup out of a value",
    { before: literal, after: literal, value: Schema.Array(piece) },
    (input) => {
      const [before, after, v] = [input.before.join(""), input.after.join(""), input.value.join("")]
      const rendered = html(`${before}{{v}}${after}`, { v }) ?? ""
      const printed = rendered.slice(before.length, rendered.length - after.length)
      assert.notMatch(printed, /[<>"']/)
      const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" }
      assert.strictEqual(printed.replaceAll(/&([^;]*);/g, (_, name: string) => entities[name] ?? "?"), v)
    }
  )

  it.prop("rendering never parses a value", { a: Schema.String, b: value }, ({ a, b }) => {
    const values = { a: `${a}{{b}}{{{{`, b }
    assert.strictEqual(text("{{a}}{{b|-}}", values), `${a}{{b}}{{{{${b === null ? "-" : String(b)}`)
  })

  it.prop("rendering of a text is the concatenation of its rendered parts", {
    parts: Schema.Array(Schema.Union([literal, value]))
  }, ({ parts }) => {
    const isLiteral = (part: typeof parts[number]) => Array.isArray(part)
    const source = parts.map((part, index) => isLiteral(part) ? part.join("") : `{{v${index}}}`).join("")
    const values = Object.fromEntries(parts.map((part, index) => [`v${index}`, part]))
    const wanted = parts.map((part) => isLiteral(part) ? part.join("") : part ?? "").join("")
    assert.strictEqual(text(source, values), wanted)
  })
})

describe("variables of a template", () => {
  it("the variables of a template are its names, once each, in order of appearance", () => {
    const template = compiled({ subject: "{{b}}{{c|x}}", html: "{{a}}{{b}}{{d|y}}", text: "{{d}}{{user.name}}" })
    assert.deepStrictEqual(template.names, ["b", "c", "a", "d", "user.name"])
  })

  it("a variable is required if one of its places has no default", () => {
    const template = compiled({ subject: "{{b}}{{c|x}}", html: "{{a}}{{b}}{{d|y}}", text: "{{d}}{{user.name}}" })
    assert.deepStrictEqual(missing(template, {}), ["b", "a", "d", "user.name"])
  })

  it.prop(
    "the required variables are enough to render without gaps",
    { names: Schema.Array(Schema.Tuple([Schema.Literals(["a", "b", "c", "d.e"]), Schema.Boolean])) },
    ({ names }) => {
      const places = names.map(([name, hasDefault]) => hasDefault ? `{{${name}|x}}` : `{{${name}}}`).join(" ")
      const template = compiled({ subject: places.slice(0, places.indexOf(" ") + 1), html: places })
      const found = template.names
      assert.sameMembers([...found], [...new Set(names.map(([name]) => name))])
      assert.isTrue(missing(template, {}).every((name) => found.includes(name)))
      assert.deepStrictEqual(missing(template, { a: 1, b: 2, c: 3, d: { e: 4 } }), [])
    }
  )

  it("a variable is missing if it is absent, null or below a value that is not an object", () => {
    const template = compiled({ subject: "{{a}}{{b}}{{c}}{{d.e}}", text: "" })
    assert.deepStrictEqual(missing(template, { a: 0, b: null, d: "e" }), ["b", "c", "d.e"])
    assert.deepStrictEqual(missing(template, { a: "", b: false, c: "x", d: { e: 1 } }), [])
  })
})

describe("hostile templates", () => {
  const million = 1_000_000
  /** What is repeated, the template, and the reason of its refusal. */
  const sources: ReadonlyArray<readonly [string, string, RegExp?]> = [
    ["open braces", "{{".repeat(million / 2)],
    ["single braces", "{ ".repeat(million / 2)],
    ["closed pairs", "{{a}}".repeat(million / 5), /at most 1000 placeholders/],
    ["pairs with a long default", `{{a|${"x".repeat(million / 1_000)}}}`.repeat(1_000)],
    ["a name without end", `{{${"a".repeat(million)}`, /is not closed/],
    ["a name and spaces", `{{a${" ".repeat(million)}!}}`, /is not a placeholder/],
    ["a default of bars", `{{a${"|".repeat(million)}}}`],
    ["dots", `{{${"a.".repeat(million / 2)}}}`, /is not a placeholder/]
  ]

  // With a step for each pair of characters, a megabyte takes hours.
  for (const [what, source, reason] of sources) {
    it(`a template of a megabyte of ${what} is read in one pass`, { timeout: 20_000 }, () => {
      const result = compile({ subject: source, text: source })
      if (Result.isSuccess(result)) render(result.success, { a: "x" })
      assert.match(Result.isFailure(result) ? result.failure[0]?.reason ?? "" : "", reason ?? /^$/)
    })
  }

  it("a text with more than 1,000 placeholders is refused at the first that is one too many", () => {
    assert.isTrue(Result.isSuccess(compile({ subject: "", text: "{{{{{{a}}\n".repeat(1_000) })))
    const names = Array.from({ length: 990_000 }, (_, index) => `{{v${index}}}\n`).join("")
    for (const text of ["{{a}}\n".repeat(1_001), names]) {
      const faults = Result.getOrThrow(Result.flip(compile({ subject: "", text })))
      assert.deepStrictEqual(faults.map(({ line, part, reason }) => ({ line, part, reason })), [
        { line: 1_001, part: "text", reason: "a text has at most 1000 placeholders" }
      ])
    }
  })

  it("a template has one literal more than placeholders, however many there are", () => {
    const { text: part } = compiled({ subject: "", text: "{{{{x{{a}}".repeat(1_000) })
    assert.strictEqual(part?.placeholders.length, 1_000)
    assert.strictEqual(part?.literals.length, 1_001)
  })
})
