import { assert, describe, it } from "@effect/vitest"
import { pages, read } from "./documents.ts"

const rows = [...read("docs/glossary.md").matchAll(/^\| (\*\*.*?) \| (.*?) \| ?(.*?) ?\|$/gm)]
  .map(([, terms = "", meaning = "", not = ""]) => ({ terms: terms.replaceAll("**", "").split(", "), meaning, not }))

/** The replaced words, without those in italics: these are also ordinary English. */
const replaced = rows.flatMap(({ not }) => not.split(", ")).filter((word) => word !== "" && !word.startsWith("*"))

/** The sentences of a page. Code keeps the names of columns. */
const prose = (page: string) => read(page).replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "")

describe("docs/glossary.md", () => {
  it("defines each term once, in at most 67 terms", () => {
    const terms = rows.flatMap((row) => row.terms)
    assert.isAbove(terms.length, 30)
    assert.isAtMost(terms.length, 67)
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

  it("lists no word under Not that another page still uses", () => {
    // The list of licences has names of packages.
    const others = pages.filter((page) => page !== "docs/glossary.md" && page !== "docs/licences.md")
    const found = others.flatMap((page) =>
      replaced.filter((word) => new RegExp(`\\b${word}s?\\b`, "i").test(prose(page))).map((word) => `${page}: ${word}`)
    )
    assert.deepStrictEqual(found, [])
  })
})
