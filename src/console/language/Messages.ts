import { Context, Effect, Layer, Record } from "effect"
import type { IntlMessageFormat } from "intl-messageformat"
import { Html, html } from "../../platform/http/html.ts"
import type { Locale } from "../../values/Locale.ts"
import { pseudo } from "./pseudo.ts"
import type { Given, Key, RichValues, Texts, Values } from "./Texts.ts"

export type { Key }

/** The texts of one language. */
export interface Translate {
  /** Language of the texts, for `lang`. */
  readonly locale: string
  /** Language of dates and numbers, for `Intl`. Digits are always Latin, as in ids, which people compare and copy. */
  readonly intl: string
  readonly direction: "ltr" | "rtl"
  /** A text. Its arguments are checked by the compiler. */
  readonly text: <K extends Key>(key: K, ...given: Given<Values<K>>) => string
  /** A text with markup in it. */
  readonly rich: <K extends Key>(key: K, values: RichValues<K>) => Html
  /** The text of a key that is made at run time, such as that of an error; undefined if there is no such key. */
  readonly named: (key: string, values?: Readonly<Record<string, string | number>>) => string | undefined
}

/** The languages that the console has, with the pseudo language of the tests in both directions. */
export type Language = Locale | Pseudo

type Pseudo = "pseudo" | "pseudo-rtl"

const isPseudo = (language: Language): language is Pseudo => language === "pseudo" || language === "pseudo-rtl"

const english = () => import("./en.ts").then(({ en }) => en)

/** Each language loads when it is used first. */
const sources: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: english,
  fr: () => import("./fr.ts").then(({ fr }) => fr),
  es: () => import("./es.ts").then(({ es }) => es),
  pt: () => import("./pt.ts").then(({ pt }) => pt),
  de: () => import("./de.ts").then(({ de }) => de),
  ar: () => import("./ar.ts").then(({ ar }) => ar),
  sw: () => import("./sw.ts").then(({ sw }) => sw),
  rw: () => import("./rw.ts").then(({ rw }) => rw),
  pseudo: english,
  "pseudo-rtl": english
}

/** Whether the console speaks a language. */
export const isSpoken = (language: string): language is Language => Object.hasOwn(sources, language)

/** The first language of `Accept-Language` that the console speaks. */
export const preferred = (header: string | undefined): Language => {
  const wanted = (header ?? "").split(",").map((part) => part.split(";")[0]?.trim().slice(0, 2).toLowerCase() ?? "")
  return wanted.find(isSpoken) ?? "en"
}

const localeOf = (language: Language): Locale => isPseudo(language) ? "en" : language

const intlOf = (language: Language) => language === "ar" ? "ar-u-nu-latn" : localeOf(language)

type Formatter = (text: string) => IntlMessageFormat

type Parts = ReadonlyArray<string | Html>

type Value = string | number | Html | ((inside: Html) => Html)

const flat = (parts: string | Html | Parts): Html =>
  parts instanceof Html ? parts : typeof parts === "string" ? html`${parts}` : html`${parts.map(flat)}`

/** Characters that are not seen, or that turn around what follows. */
// oxlint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/g
const isolates = /[\u2066-\u2069]/g

/** Marks that isolate a part of a text do no harm in pairs: texts with other texts in them have such pairs. */
const isPaired = (text: string) => {
  let open = 0
  for (const [mark] of text.matchAll(isolates)) {
    open += mark === "\u2069" ? -1 : 1
    if (open < 0) return false
  }
  return open === 0
}

/**
 * Text that people or other programs wrote, with its unseen characters marked. The arguments of texts, titles, crumbs and
 * choices are so by themselves.
 */
export const marked = (text: string): string => {
  const seen = text.replaceAll("\r\n", "\n").replaceAll(unseen, "\ufffd")
  return isPaired(seen) ? seen : seen.replaceAll(isolates, "\ufffd")
}

/** A value such as `+250788123456` would turn around in a text from right to left. These marks keep its direction. */
const isolated = (text: string) => `\u2068${text}\u2069`

const translateOf = (language: Language, texts: Texts, formatter: Formatter): Translate => {
  const direction = language === "ar" || language === "pseudo-rtl" ? "rtl" : "ltr"
  const placed = <V>(value: V): V | string => {
    if (typeof value !== "string") return value
    return direction === "rtl" ? isolated(marked(value)) : marked(value)
  }
  const formats = new Map<string, ReturnType<Formatter>>()
  const formatOf = (key: Key) => {
    const format = formats.get(key) ?? formatter(texts[key])
    formats.set(key, format)
    return format
  }
  const text = (key: Key, values?: Readonly<Record<string, string | number>>) =>
    String(formatOf(key).format(Record.map({ ...values }, placed)))
  const rich = (key: Key, values: Readonly<Record<string, Value>>) => {
    const wrapped = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        typeof value === "function" ? (inside: Array<string | Html>) => value(flat(inside)) : placed(value)
      ])
    )
    return flat(formatOf(key).format<Html>(wrapped))
  }
  return {
    locale: localeOf(language),
    intl: intlOf(language),
    direction,
    text,
    rich,
    named: (key, values) => Object.hasOwn(texts, key) ? text(key as Key, values) : undefined
  }
}

/** The texts of the console. The library, each language and each text load when they are used first. */
export class Messages extends Context.Service<Messages, {
  readonly in: (language: Language) => Effect.Effect<Translate>
}>()("messaging-service/console/language/Messages") {
  static readonly layer = Layer.sync(Messages, () => {
    const load = Effect.fnUntraced(function*(language: Language) {
      const { IntlMessageFormat: Format } = yield* Effect.promise(() => import("intl-messageformat"))
      const texts = yield* Effect.promise(sources[language])
      const intl = intlOf(language)
      return translateOf(language, texts, (text) => {
        const format = new Format(text, intl)
        return isPseudo(language) ? new Format(pseudo(format.getAst()), intl) : format
      })
    })
    // A browser that goes away must not end what others wait for.
    const loaded = (language: Language) => Effect.runSync(Effect.cached(Effect.uninterruptible(load(language))))
    const known = new Map<Language, Effect.Effect<Translate>>()
    return Messages.of({
      in: (language) =>
        Effect.suspend(() => {
          const found = known.get(language) ?? loaded(language)
          known.set(language, found)
          return found
        })
    })
  })
}
