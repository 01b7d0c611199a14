import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { compile, missing, render, type TemplateSource, variables } from "../../src/templates/Template.ts"
import type { Variables } from "../../src/templates/TemplatePart.ts"

const compiled = (source: TemplateSource) => Result.getOrThrow(compile(source))

const html = (source: string, values: Variables = {}) =>
  render(compiled({ subject: "", html: source, text: "" }), values).html

const text = (source: string, values: Variables = {}) => render(compiled({ subject: "", text: source }), values).text

const fault = (source: string) => {
  const result = compile({ subject: "", text: source })
  return Result.isFailure(result) ? result.failure[0] : undefined
}

/** Pieces that mean something to the language, to HTML, to a header or to a regular expression. */
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
  it("are replaced by strings, numbers and booleans, with and without spaces", () => {
    assert.strictEqual(text("{{a}} {{ b }} {{\n\tc\n}}", { a: "x", b: 0, c: false }), "x 0 false")
  })

  it("read one level of objects", () => {
    assert.strictEqual(text("{{ user.name }}", { user: { name: "Ana" } }), "Ana")
    assert.strictEqual(text("[{{ user.name }}]", { "user.name": "flat" }), "[]")
  })

  it("have a default for a value that is missing or null, not for an empty one", () => {
    assert.strictEqual(text("Hi {{name | dear friend}}!", {}), "Hi dear friend!")
    assert.strictEqual(text("Hi {{name|you}}!", { name: null }), "Hi you!")
    assert.strictEqual(text("Hi {{name|you}}!", { name: "" }), "Hi !")
    assert.strictEqual(text("Hi {{name|}}!", {}), "Hi !")
  })

  it("have defaults that are text, escaped like a value", () => assert.strictEqual(html("{{a|R&D}}"), "R&amp;D"))

  it("leave objects, arrays and functions out as missing", () => {
    const template = compiled({ subject: "", text: "{{a}}{{b}}{{c}}" })
    assert.deepStrictEqual(missing(template, { a: {}, b: [1], c: () => 1 }), ["a", "b", "c"])
  })

  it("never read the prototype chain", () => {
    const names = ["toString", "valueOf", "hasOwnProperty", "a.toString", "a.length", "b.length"]
    const template = compiled({ subject: "", text: names.map((name) => `{{${name}}}`).join("") })
    assert.deepStrictEqual(missing(template, { a: {}, b: "text" }), names)
    assert.deepStrictEqual(missing(template, Object.create({ toString: "x", valueOf: "x" })), names)
  })

  it("cannot name __proto__, constructor or prototype", () => {
    for (const name of ["__proto__", "constructor", "prototype", "a.__proto__", "constructor.name", "__proto__|x"]) {
      assert.match(fault(`{{ ${name} }}`)?.message ?? "", /reserved/)
    }
  })
})

describe("what a template refuses", () => {
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

  for (const source of refused) it(`is ${source}`, () => assert.isDefined(fault(source)))

  it("is told with its part, line, column and a reason", () => {
    const result = compile({ subject: "{{ok}}", html: "<p>\r\n{{ok}}\r  {{ not ok }}</p>", text: "{{ok}}" })
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) {
      const [{ column = 0, line = 0, part = "", reason = "" } = {}] = result.failure
      assert.deepStrictEqual({ part, line, column }, { part: "html", line: 3, column: 3 })
      assert.include(reason, "{{ not ok }}")
    }
  })

  it("is told of each text that has it, of its first place", () => {
    const result = compile({ subject: "{{", html: "{{a}}", text: "{{1}} {{2}}" })
    const faults = Result.isFailure(result) ? result.failure : []
    assert.deepStrictEqual(faults.map(({ column, part }) => [part, column]), [["subject", 1], ["text", 1]])
  })

  it("is told in few words, however long it is", () => {
    assert.isBelow(fault(`{{ ${"x ".repeat(500_000)} }}`)?.reason.length ?? 0, 200)
  })
})

describe("rendering", () => {
  it("prints {{ for {{{{ and leaves }} alone", () => {
    assert.strictEqual(text("{{{{ name }} {{a}} @media{a{b}}", { a: 1 }), "{{ name }} 1 @media{a{b}}")
  })

  it("escapes values in HTML and nowhere else", () => {
    const source = { subject: "{{v}}", html: "<p title='{{v}}'>{{v}}</p>", text: "{{v}}" }
    const v = "<a href=\"x\">&'"
    const escaped = "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"
    assert.deepStrictEqual(render(compiled(source), { v }), {
      subject: v,
      html: `<p title='${escaped}'>${escaped}</p>`,
      text: v
    })
  })

  it("puts spaces for line breaks and control characters in the subject", () => {
    const template = compiled({ subject: "a\r\nb{{v}}\0{{w|x\ty}}", text: "" })
    assert.strictEqual(render(template, { v: "\r\nBcc: e@x\n\u0085\u2028" }).subject, "a b Bcc: e@x    x y")
  })

  it.prop(
    "is total, whatever the variables are",
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

  it.prop("keeps literal text as it is", { pieces: literal }, ({ pieces }) => {
    const source = pieces.join("")
    assert.deepStrictEqual(text(source), source)
    assert.deepStrictEqual(html(source), source)
  })

  it.prop(
    "gives back any text whose {{ are doubled",
    { source: Schema.Array(Schema.Literals(["{", "}", "a", "|"])) },
    ({ source }) => {
      const wanted = source.join("")
      const doubled = wanted.replaceAll("{{", "{{{{")
      // A single brace before a doubled pair would be read as part of it.
      if (!doubled.includes("{{{{{")) assert.strictEqual(text(doubled), wanted)
    }
  )

  it.prop("lets no markup out of a value", { before: literal, after: literal, value: Schema.Array(piece) }, (input) => {
    const [before, after, v] = [input.before.join(""), input.after.join(""), input.value.join("")]
    const rendered = html(`${before}{{v}}${after}`, { v }) ?? ""
    const printed = rendered.slice(before.length, rendered.length - after.length)
    assert.notMatch(printed, /[<>"']/)
    const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" }
    assert.strictEqual(printed.replaceAll(/&([^;]*);/g, (_, name: string) => entities[name] ?? "?"), v)
  })

  it.prop("never reads a value a second time", { a: Schema.String, b: value }, ({ a, b }) => {
    const values = { a: `${a}{{b}}{{{{`, b }
    assert.strictEqual(text("{{a}}{{b|-}}", values), `${a}{{b}}{{{{${b === null ? "-" : String(b)}`)
  })

  it.prop("is by concatenation of its parts", { parts: Schema.Array(Schema.Union([literal, value])) }, ({ parts }) => {
    const isLiteral = (part: typeof parts[number]) => Array.isArray(part)
    const source = parts.map((part, index) => isLiteral(part) ? part.join("") : `{{v${index}}}`).join("")
    const values = Object.fromEntries(parts.map((part, index) => [`v${index}`, part]))
    const wanted = parts.map((part) => isLiteral(part) ? part.join("") : part ?? "").join("")
    assert.strictEqual(text(source, values), wanted)
  })
})

describe("the variables of a template", () => {
  it("are all of its names, once, in order of appearance", () => {
    const template = compiled({ subject: "{{b}}{{c|x}}", html: "{{a}}{{b}}{{d|y}}", text: "{{d}}{{user.name}}" })
    assert.deepStrictEqual(variables(template), ["b", "c", "a", "d", "user.name"])
  })

  it("are required where a name has no default in one of its places", () => {
    const template = compiled({ subject: "{{b}}{{c|x}}", html: "{{a}}{{b}}{{d|y}}", text: "{{d}}{{user.name}}" })
    assert.deepStrictEqual(missing(template, {}), ["b", "a", "d", "user.name"])
  })

  it.prop(
    "hold every name that is required, and are enough to render without a gap",
    { names: Schema.Array(Schema.Tuple([Schema.Literals(["a", "b", "c", "d.e"]), Schema.Boolean])) },
    ({ names }) => {
      const places = names.map(([name, hasDefault]) => hasDefault ? `{{${name}|x}}` : `{{${name}}}`).join(" ")
      const template = compiled({ subject: places.slice(0, places.indexOf(" ") + 1), html: places })
      const found = variables(template)
      assert.sameMembers([...found], [...new Set(names.map(([name]) => name))])
      assert.isTrue(missing(template, {}).every((name) => found.includes(name)))
      assert.deepStrictEqual(missing(template, { a: 1, b: 2, c: 3, d: { e: 4 } }), [])
    }
  )

  it("are missing when absent, null or below something that is no object", () => {
    const template = compiled({ subject: "{{a}}{{b}}{{c}}{{d.e}}", text: "" })
    assert.deepStrictEqual(missing(template, { a: 0, b: null, d: "e" }), ["b", "c", "d.e"])
    assert.deepStrictEqual(missing(template, { a: "", b: false, c: "x", d: { e: 1 } }), [])
  })
})

describe("hostile sources", () => {
  const million = 1_000_000
  const sources: ReadonlyArray<readonly [string, string]> = [
    ["open braces", "{{".repeat(million / 2)],
    ["single braces", "{ ".repeat(million / 2)],
    ["closed pairs", "{{a}}".repeat(million / 5)],
    ["a name without end", `{{${"a".repeat(million)}`],
    ["a name and spaces", `{{a${" ".repeat(million)}!}}`],
    ["a default of bars", `{{a${"|".repeat(million)}}}`],
    ["dots", `{{${"a.".repeat(million / 2)}}}`]
  ]

  for (const [what, source] of sources) {
    it(`of a megabyte of ${what} are read in one pass`, { timeout: 20_000 }, () => {
      const result = compile({ subject: source, text: source })
      if (Result.isSuccess(result)) render(result.success, { a: "x" })
    })
  }

  it("keep one literal more than placeholders, whatever their number", () => {
    const { text: part } = compiled({ subject: "", text: "{{{{x{{a}}".repeat(1_000) })
    assert.strictEqual(part?.placeholders.length, 1_000)
    assert.strictEqual(part?.literals.length, 1_001)
  })
})
