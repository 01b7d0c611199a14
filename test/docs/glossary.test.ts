import { assert, describe, it } from "@effect/vitest"
import { read } from "./documents.ts"

const rows = [...read("docs/glossary.md").matchAll(/^\| (\*\*.*?) \| (.*?) \| ?(.*?) ?\|$/gm)]
  .map(([, terms = "", meaning = "", not = ""]) => ({ terms: terms.replaceAll("**", "").split(", "), meaning, not }))

/** The replaced words that are not ordinary English as well, which the glossary sets in italics. */
const replaced = rows.flatMap(({ not }) => not.split(", ")).filter((word) => word !== "" && !word.startsWith("*"))

describe("docs/glossary.md", () => {
  it("defines each term once, in at most 55 terms", () => {
    const terms = rows.flatMap((row) => row.terms)
    assert.isAbove(terms.length, 30)
    assert.isAtMost(terms.length, 55)
    assert.deepStrictEqual(terms.filter((term, index) => terms.indexOf(term) !== index), [])
  })

  it("lists the terms of a group in alphabetical order", () => {
    for (const group of read("docs/glossary.md").split(/^## /m)) {
      const terms = [...group.matchAll(/^\| \*\*(.*?)\*\*/gm)].map(([, term = ""]) => term.toLowerCase())
      assert.deepStrictEqual(terms, [...terms].sort())
    }
  })

  it("lists no word under Not that it also defines", () => {
    const terms = rows.flatMap((row) => row.terms)
    assert.deepStrictEqual(replaced.filter((word) => terms.includes(word)), [])
  })
})
