/** What all languages of the console have in common. A text that breaks these rules breaks a page. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { IntlMessageFormat } from "intl-messageformat"
import { ar } from "../../src/console/language/ar.ts"
import { de } from "../../src/console/language/de.ts"
import { en } from "../../src/console/language/en.ts"
import { es } from "../../src/console/language/es.ts"
import { fr } from "../../src/console/language/fr.ts"
import { isSpoken, Messages, preferred } from "../../src/console/language/Messages.ts"
import { pt } from "../../src/console/language/pt.ts"
import { rw } from "../../src/console/language/rw.ts"
import { sw } from "../../src/console/language/sw.ts"
import { Locale } from "../../src/values/Locale.ts"

type Elements = ReturnType<IntlMessageFormat["getAst"]>

const english: Readonly<Record<string, string>> = en

const translations: ReadonlyArray<readonly [Exclude<Locale, "en">, Readonly<Record<string, string>>]> = [
  ["fr", fr],
  ["es", es],
  ["pt", pt],
  ["de", de],
  ["ar", ar],
  ["sw", sw],
  ["rw", rw]
]

/** Names, and what no language translates. */
const names = [
  "Messaging Service",
  "WhatsApp",
  "SMS",
  "HTML",
  "URL",
  "DKIM",
  "SPF",
  "DMARC",
  "MX",
  "Cc",
  "Message-ID",
  "Bcc",
  "ms",
  "English",
  "Français",
  "Español",
  "Português",
  "Deutsch",
  "العربية",
  "Kiswahili",
  "Ikinyarwanda"
]

/** Words that a language shares with English. */
const shared: Readonly<Record<Exclude<Locale, "en">, ReadonlyArray<string>>> = {
  fr: [
    "Audio",
    "Code",
    "Contacts",
    "Description",
    "Dialogue",
    "Document",
    "Image",
    "Menu",
    "Message",
    "Messages",
    "Mode",
    "Pages",
    "Participants",
    "Quotas",
    "Secret",
    "Segments",
    "Source",
    "Session",
    "Sessions",
    "Sticker",
    "Test",
    "Type",
    "Versions",
    "Webhooks",
    "active",
    "message",
    "page",
    "session",
    "webhook",
    "message  messages",
    "minute  minutes",
    "support",
    "test"
  ],
  es: ["Audio", "Error", "Plan", "Sandbox", "Sticker", "Webhook  :", "Webhooks", "webhook"],
  pt: ["Menu", "Webhooks", "Webhook  :", "Sandbox", "Status", "Payload", "webhook"],
  de: [
    "Test",
    "Webhooks",
    "Sandbox",
    "optional",
    "Details",
    "Status",
    "Tags",
    "Tag",
    "Webhook  :",
    "Text",
    "Name",
    "Domains",
    "Domain",
    "Passkeys",
    "Passkey",
    "Browser",
    "Code",
    "Audio",
    "Sticker",
    "Video"
  ],
  ar: [],
  sw: ["Metadata", "Video", "Webhook  :", "webhook"],
  rw: ["Webhook  :", "webhook"]
}

/** The library's numbers of the kinds of elements. */
const kinds = { literal: 0, plural: 6, pound: 7, tag: 8 } as const

/** The elements of a text, also those within others. */
const elementsOf = (elements: Elements): Elements =>
  elements.flatMap((element) => [
    element,
    ...("children" in element ? elementsOf(element.children) : []),
    ...("options" in element ? Object.values(element.options).flatMap(({ value }) => elementsOf(value)) : [])
  ])

const parsed = (text: string) => elementsOf(new IntlMessageFormat(text).getAst())

const sorted = (names: ReadonlyArray<string>) => [...new Set(names)].toSorted()

/** The arguments and the tags of a text. */
const holes = (text: string) => {
  const elements = parsed(text)
  const named = (isTag: boolean) =>
    sorted(
      elements.flatMap((element) =>
        element.type !== kinds.literal && element.type !== kinds.pound && (element.type === kinds.tag) === isTag
          ? [element.value]
          : []
      )
    )
  return { arguments: named(false), tags: named(true) }
}

/** The categories that whole numbers below a million have. ICU has no rule for Kinyarwanda. */
const categoriesOf = (locale: Locale) => {
  if (Intl.PluralRules.supportedLocalesOf(locale).length === 0) return ["other"]
  const rules = new Intl.PluralRules(locale)
  return sorted(Array.from({ length: 1000 }, (_, number) => rules.select(number)))
}

/** The words of a text, without what a language cannot translate. */
const words = (text: string) =>
  parsed(text).flatMap((element) => element.type === kinds.literal ? [element.value] : []).join(" ").trim()

describe.for(translations)("the texts in %s", ([locale, texts]) => {
  it("have the keys of the English ones, in their order", () => {
    assert.deepStrictEqual(Object.keys(texts), Object.keys(english))
  })

  it("have the arguments and tags of the English ones, and no other markup", () => {
    for (const [key, text] of Object.entries(texts)) {
      assert.deepStrictEqual(holes(text), holes(english[key] ?? ""), key)
      assert.notMatch(words(text), /[<>]/, key)
    }
  })

  it("have the plural categories of the language", () => {
    const wanted = categoriesOf(locale)
    for (const [key, text] of Object.entries(texts)) {
      for (const element of parsed(text)) {
        if (element.type !== kinds.plural) continue
        const found = Object.keys(element.options).filter((name) => !name.startsWith("="))
        assert.deepStrictEqual(sorted(found), wanted, key)
      }
    }
  })

  it("leave no English text, except names and words that both languages share", () => {
    const left = Object.entries(texts).filter(([key, text]) => /\p{L}/u.test(words(text)) && text === english[key])
    const allowed = new Set([...names, ...shared[locale]])
    assert.deepStrictEqual(sorted(left.map(([, text]) => words(text)).filter((text) => !allowed.has(text))), [])
  })

  // WCAG 2.5.3: people who speak to their browser say what they see.
  it("name the links beside a contact by the texts that they show", () => {
    for (
      const [name, shown] of [["contacts.writeTo", "contacts.write"], ["contacts.chatWith", "contacts.chat"]] as const
    ) {
      assert.include(texts[name]?.toLowerCase(), texts[shown]?.toLowerCase() ?? "no text")
    }
  })

  it.effect("can be filled in with every number", () =>
    Effect.gen(function*() {
      const t = yield* Effect.flatMap(Messages, (messages) => messages.in(locale))
      for (const [key, text] of Object.entries(english)) {
        for (const number of [0, 1, 2, 3, 11, 100, 1_000_000]) {
          const values = Object.fromEntries(holes(text).arguments.map((name) => [name, number]))
          const tags = Object.fromEntries(holes(text).tags.map((name) => [name, (inside: unknown) => inside]))
          // The key was checked at run time.
          const { markup } = t.rich(key as "frame.zone", { ...values, ...tags } as never)
          assert.notStrictEqual(markup.trim(), "", key)
          assert.notMatch(markup, /[\u0660-\u0669\u06f0-\u06f9]/, `Digits are Latin in ${key}.`)
        }
      }
    }).pipe(Effect.provide(Messages.layer)))
})

describe("the choice of a language", () => {
  it("the console speaks every language that a person can choose", () => {
    assert.deepStrictEqual(Locale.literals.filter((locale) => !isSpoken(locale)), [])
    assert.isFalse(isSpoken("constructor"))
  })

  it("a browser gets the first of its languages that the console speaks", () => {
    assert.strictEqual(preferred("it, rw;q=0.9, fr;q=0.8"), "rw")
    assert.strictEqual(preferred("pt-BR,pt;q=0.9"), "pt")
    assert.strictEqual(preferred("it"), "en")
    assert.strictEqual(preferred(undefined), "en")
  })

  it.effect("spans of time are texts of each language, with the digits of ids", () =>
    Effect.gen(function*() {
      const messages = yield* Messages
      const hours = (locale: Locale) => Effect.map(messages.in(locale), (t) => t.text("span.hour", { count: 3 }))
      assert.deepStrictEqual(
        yield* Effect.forEach(["fr", "de", "ar"] as const, hours),
        ["3 heures", "3 Stunden", "3 ساعات"]
      )
      const kinyarwanda = yield* messages.in("rw")
      assert.strictEqual(kinyarwanda.text("span.hour", { count: 1 }), "isaha 1")
      const { direction, locale } = yield* messages.in("ar")
      assert.deepStrictEqual({ direction, locale }, { direction: "rtl", locale: "ar" })
    }).pipe(Effect.provide(Messages.layer)))
})
