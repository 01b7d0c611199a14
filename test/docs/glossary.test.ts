import { assert, it } from "@effect/vitest"
import { read } from "./documents.ts"

it("docs/glossary.md gives every word one meaning", () => {
  const words = [...read("docs/glossary.md").matchAll(/^\| (\*\*.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/\*\*(.*?)\*\*/g)].map(([, word]) => word)
  )
  assert.isAbove(words.length, 80)
  assert.deepStrictEqual(words.filter((word, index) => words.indexOf(word) !== index), [])
})
