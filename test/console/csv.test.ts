import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { csvLine } from "../../src/console/ui/table.ts"

/** The cells of one line, as a program reads them. */
const cellsOf = (line: string): ReadonlyArray<string> => {
  assert.isTrue(line.endsWith("\r\n"))
  // The comma in front makes every cell begin alike.
  const found = `,${line.slice(0, -2)}`.match(/,(?:"(?:[^"]|"")*"|[^",\r\n]*)/g) ?? []
  return found.map((cell) => cell.slice(1).replace(/^"([^]*)"$/, "$1").replaceAll("\"\"", "\""))
}

describe("a table as CSV", () => {
  it("keeps a text from being a formula, and leaves numbers alone", () => {
    assert.strictEqual(
      csvLine(["=1+1", "+250788", "-x", "@SUM(A1)", -5]),
      `"'=1+1","'+250788","'-x","'@SUM(A1)",-5\r\n`
    )
    assert.strictEqual(
      csvLine(["a,b", "say \"hi\"", "two\nlines", "plain"]),
      "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",plain\r\n"
    )
  })

  it.prop(
    "gives back every text, and no cell begins as a formula",
    [Schema.NonEmptyArray(Schema.String)],
    ([texts]) => {
      const cells = cellsOf(csvLine(texts))
      assert.strictEqual(cells.length, texts.length)
      for (const [index, cell] of cells.entries()) {
        assert.notMatch(cell, /^[=+\-@\t\r]/)
        assert.isTrue(cell === texts[index] || cell === `'${texts[index]}`)
      }
    }
  )
})
