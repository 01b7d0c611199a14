/** The languages of the console translate each term in one way: the table of `docs/console-terms.md`. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import { ar } from "../../src/console/language/ar.ts"
import { de } from "../../src/console/language/de.ts"
import { en } from "../../src/console/language/en.ts"
import { es } from "../../src/console/language/es.ts"
import { fr } from "../../src/console/language/fr.ts"
import { pt } from "../../src/console/language/pt.ts"
import { rw } from "../../src/console/language/rw.ts"
import { sw } from "../../src/console/language/sw.ts"

type Texts = Readonly<Record<string, string | undefined>>

/** In the order of the table's columns. */
const languages: ReadonlyArray<readonly [string, Texts]> = Object.entries({ fr, es, pt, de, ar, sw, rw })

const terms = NodeFs.readFileSync(new URL("../../docs/console-terms.md", import.meta.url), "utf8").split("\n").flatMap(
  (line) => {
    const [, term = "", key = "", everywhere, ...translations] = line.split("|").map((cell) => cell.trim())
    return key.startsWith("`")
      ? [{ term, key: key.slice(1, -1), isEverywhere: everywhere === "yes", translations }]
      : []
  }
)

/** Without accents and capitals: `Sesión` and `sesiones` begin alike. */
const plain = (text: string) => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()

/** A word without its ending. */
const stem = (word: string) => word.length > 4 ? word.slice(0, -2) : word

const hasTerm = (text: string, translation: string) =>
  translation.split(" / ").some((form) => plain(form).split(" ").every((word) => plain(text).includes(stem(word))))

/** The English texts that have a term. Names of arguments are no words. */
const keysWith = (term: string) => {
  const found = new RegExp(`(?<![\\w-])${term}s?(?![\\w-])`, "i")
  return Object.entries(en).flatMap(([key, text]) => found.test(text.replaceAll(/\{[^{},]*[,}]/g, "")) ? [key] : [])
}

describe("the terms of the console", () => {
  it("are at least 60, each once, with a translation in every language", () => {
    assert.isAtLeast(terms.length, 60)
    assert.strictEqual(new Set(terms.map(({ term }) => term)).size, terms.length)
    for (const { term, translations } of terms) {
      assert.strictEqual(translations.filter((cell) => cell !== "").length, languages.length, term)
    }
  })

  it.for(languages.map(([name, texts], column) => [name, texts, column] as const))(
    "have one translation in %s",
    ([, texts, column]) => {
      const wrong = terms.flatMap(({ isEverywhere, key, term, translations }) =>
        [key, ...(isEverywhere ? keysWith(term) : [])].filter((one) =>
          !hasTerm(texts[one] ?? "", translations[column] ?? "")
        ).map((one) => `${term} (${translations[column]}) in ${one}: ${texts[one]}`)
      )
      assert.deepStrictEqual(wrong, [])
    }
  )
})
