import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { compile, render } from "../../src/templates/Template.ts"
import { read } from "./documents.ts"

const page = read("docs/email/templates.md")

/** Rows of the table with this head, cells without backquotes. */
const rowsOf = (head: string) => {
  const [, table = ""] = page.split(`| ${head} |\n`)
  return table.split("\n\n")[0]?.split("\n").slice(1).map((line) =>
    line.slice(2, -2).split(/(?<!\\) \| /).map((cell) => cell.replaceAll(/^`|`$/g, "").replaceAll("\\|", "|"))
  ) ?? []
}

const Variables = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

describe("docs/email/templates.md", () => {
  it("the page shows the correct result of each placeholder", () => {
    const rows = rowsOf("Template | Variables | Result")
    assert.isAbove(rows.length, 5)
    for (const [html = "", variables = "", result] of rows) {
      const template = Result.getOrThrow(compile({ subject: "", html }))
      assert.strictEqual(render(template, Variables(variables)).html, result, html)
    }
  })

  it("the page shows the correct message for each invalid placeholder", () => {
    const rows = rowsOf("Template | Message")
    assert.isAbove(rows.length, 3)
    for (const [html = "", message] of rows) {
      const faults = Result.getOrThrow(Result.flip(compile({ subject: "", html })))
      assert.deepStrictEqual(faults.map((fault) => fault.message), [message])
    }
  })
})
