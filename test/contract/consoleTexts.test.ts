/**
 * Opens every page of the console in the pseudo language, where each text stands in brackets: a word without them is
 * written in the code, so no language can translate it. A new page needs nothing here.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeAccount, Service } from "../support/Service.ts"

/** Elements whose text is data: ids, code and keys, what other people wrote, and times. */
const data = new Set(["bdi", "code", "kbd", "pre", "time", "textarea"])

/** Elements without an end tag. */
const isEmpty = new Set(["br", "hr", "img", "input", "link", "meta"])

/** Attributes that people read or hear. */
const spoken = new Set(["alt", "aria-label", "data-copied", "placeholder"])

/**
 * What this test and the service have written: names, addresses, zones, and requests, names of tools and of events such
 * as `email.sent`.
 */
const names =
  /Test|The owner|Second|Welcome|Hello|Session \d+|[\w.+-]+@[\w.-]+|https?:\/\/\S+|[A-Z][a-z]+\/[A-Z][a-z]+( [A-Z][a-z]+)?|UTC|enterprise|(GET|POST|PUT|PATCH|DELETE)( \/v1\/\S+)?|OpenSSL|Node|Python|PHP|Go|\b[a-z]+\.[a-z_]+\b/g

const token = /<!--.*?-->|<(\/?)([a-z0-9!-]+)((?:\s+[a-zA-Z0-9:-]+(?:="[^"]*")?)*)\s*\/?>|([^<]+)/g

const isWord = (text: string) => /\p{L}/u.test(text.replaceAll(/&[a-z#0-9]+;/g, " ").replaceAll(names, " "))

/** The parts of a text that stand outside of brackets. A sentence may have markup within its brackets. */
const outside = (text: string, open: number) => {
  let depth = open
  const bare = text.split(/(\[!! | !!\])/).filter((part) => {
    if (part === "[!! ") depth += 1
    if (part === " !!]") depth -= 1
    return depth === 0
  }).join("")
  return { bare, depth }
}

/** The words of a page that no language translates. */
const untranslated = (markup: string): ReadonlyArray<string> => {
  const above: Array<string> = []
  const found: Array<string> = []
  let depth = 0
  for (const [, end, name = "", attributes = "", text] of markup.matchAll(token)) {
    if (text !== undefined) {
      const next = outside(text, depth)
      depth = next.depth
      if (isWord(next.bare) && !above.some((element) => data.has(element))) found.push(text.trim())
      continue
    }
    for (const [, attribute = "", value = ""] of attributes.matchAll(/([a-zA-Z0-9:-]+)="([^"]*)"/g)) {
      if (spoken.has(attribute) && isWord(outside(value, 0).bare)) found.push(`${attribute}="${value}"`)
    }
    if (end === "/") above.pop()
    else if (!isEmpty.has(name) && name !== "!doctype") above.push(name)
  }
  return found
}

/** The forms of a page that a person types into, by the names of their hidden and typed fields. */
const formsIn = (markup: string) =>
  [...markup.matchAll(/<form method="post" class="form".*?<\/form>/gs)].map(([form]) => ({
    hidden: [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]) => [name, value] as [string, string]
    ),
    typed: [
      ...form.matchAll(/<(?:input type="(?:text|email|password|datetime-local)"|textarea) id="[^"]*" name="([^"]*)"/g)
    ].map(([, name = ""]) => name)
  })).filter(({ typed }) => typed.length > 0)

/** In the pseudo language, the words before a sentence of the API that has no text. */
const quoting = "îñ Éñĝlîšĥ:"

layer(Service.layer())("the console's texts", (it) => {
  it.effect("no page has a word that is no text of the languages", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      yield* fillAccount(key)
      const found = yield* everyPage({ accountId, cookie, query: "?lang=pseudo" })
      const words = [...found].map(([path, text]) => [path, path.endsWith("/frame") ? [] : untranslated(text)] as const)
      assert.deepStrictEqual(Object.fromEntries(words.filter(([, list]) => list.length > 0)), {})
    }))

  it.effect("no form that is refused shows a word that is no text of the languages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      yield* fillAccount(key)
      const found = yield* everyPage({ accountId, cookie, query: "?lang=pseudo" })
      const forms = [...found].flatMap(([path, markup]) => formsIn(markup).map((form) => ({ path, ...form })))
      assert.isAtLeast(forms.length, 15)
      const answers = yield* Effect.forEach(
        forms.flatMap((form) => ["", "a\u0001"].map((mistake) => ({ ...form, mistake }))),
        ({ hidden, mistake, path, typed }) =>
          request("POST", `${path}?lang=pseudo`, {
            headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
            body: String(new URLSearchParams([...hidden, ...typed.map((name): [string, string] => [name, mistake])]))
          }).pipe(Effect.map((answer) => ({ ...answer, path })))
      )
      // The form for a lost password accepts every address, that of a new session needs no name, and switches have no
      // wrong value.
      const refused = answers.filter(({ status }) => status >= 400)
      assert.isAtLeast(refused.length, answers.length - 5)
      const wrong = refused.map(({ path, text }) => ({
        path,
        words: untranslated(text),
        isQuoting: text.includes(quoting)
      }))
      assert.deepStrictEqual(wrong.filter(({ isQuoting, words }) => isQuoting || words.length > 0), [])
    }))
})
