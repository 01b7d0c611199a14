import { decodeHTML } from "entities"

/**
 * The words that the search for messages compares: without case and accents, so that `Café` and `CAFE` are one. A query
 * matches a message if each of its words begins a word of the message.
 */

/** Letters that Unicode does not decompose. */
const letters: Readonly<Record<string, string>> = { ß: "ss", ø: "o", ł: "l", đ: "d", æ: "ae", œ: "oe", ı: "i" }

const fold = (text: string) =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll(
    /[ßøłđæœı]/g,
    (letter) => letters[letter] ?? ""
  )

/** Scripts without blanks between words are compared by pairs of letters. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

const pairsOf = (word: string): ReadonlyArray<string> => {
  const characters = [...word]
  return characters.length < 2
    ? [word]
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/** The parser of PostgreSQL refuses words of 2 KiB. */
const maxWordLength = 60

/** Most texts are ASCII, which needs neither folding nor classes of Unicode. */
const ascii = /^[\t-~]*$/

const wordsOf = (text: string): ReadonlyArray<string> =>
  ascii.test(text)
    ? (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) => word.slice(0, maxWordLength))
    : (fold(text).match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) =>
      unspaced.test(word) ? pairsOf(word) : [word.slice(0, maxWordLength)]
    )

/** Comments, tags and what no reader sees. A start of a document may end within each. */
const hidden = /<!--[^]*?(?:-->|$)|<(style|script|head)\b[^]*?(?:<\/\1\s*>|$)|<[!/?a-z][^>]*(?:>|$)/gi

/** Blanks in a row, with characters that have no width. */
const blanks = /[\s\u200b-\u200f\ufeff]+/g

/**
 * The text of an HTML document for its words alone, which takes a small part of the time of its plain-text version: a search
 * derives that of hundreds of records at once.
 */
export const htmlWords = (html: string): string =>
  decodeHTML(html.replaceAll(hidden, " ")).replaceAll(blanks, " ").trim()

/** The words of a text that is searched for. */
export const queryWords = (q: string): ReadonlyArray<string> => [...new Set(wordsOf(q))].slice(0, 10)

/** A record as the search reads it. */
export interface Searchable {
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  readonly text: string
  /** The domain of an email's sender. */
  readonly domain: string | null
  /** The API key whose request made it. */
  readonly keyId: number | null
}

const mostRecipients = 50
const searchedText = 200

const phone = /^\+?\d+$/

/** Phone numbers are found by their last digits, too. */
const endsOf = (recipient: string): ReadonlyArray<string> => {
  if (!phone.test(recipient)) return []
  const digits = recipient.replace("+", "")
  return Array.from({ length: Math.max(0, digits.length - 4) }, (_, index) => digits.slice(index + 1))
}

/** The form of a recipient, and of the filter `to`, in which prefixes are compared. */
const comparable = (recipient: string) => `>${recipient.trim().replace(/^\+/, "").toLowerCase().slice(0, 100)}`

/** The words of a record's recipients. The first character tells a whole recipient from a word. */
const recipientWords = ({ recipients }: Searchable): ReadonlyArray<string> =>
  recipients.slice(0, mostRecipients).flatMap((recipient) => [
    comparable(recipient),
    ...wordsOf(recipient),
    ...endsOf(recipient)
  ])

/** The first characters of a text; some have two code units. */
const beginningOf = (text: string): string => {
  let end = 0
  for (let count = 0; count < searchedText && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/** The words of a record's subject and of the start of its text. */
const contentWords = ({ subject, text }: Searchable): ReadonlyArray<string> => [
  ...wordsOf(subject),
  ...wordsOf(ascii.test(text) ? text.slice(0, searchedText) : beginningOf(text))
]

/** Where a record comes from. The first character tells these from words. */
const originWords = (domain: string | null = null, keyId: number | null = null): ReadonlyArray<string> => [
  ...(domain === null ? [] : [`<${domain.toLowerCase()}`]),
  ...(keyId === null ? [] : [`#${keyId}`])
]

/** What a search asks of each record. */
export interface Search {
  readonly q?: string | undefined
  readonly to?: string | undefined
  readonly domain?: string | undefined
  readonly key_id?: number | undefined
}

/** The words that a record must have, each as a whole or as a beginning. One letter alone is a whole word. */
const soughtBy = ({ domain, key_id, q, to }: Search) => [
  ...originWords(domain, key_id).map((word) => ({ word, isWhole: true })),
  ...(to === undefined ? [] : [{ word: comparable(to), isWhole: false }]),
  ...(q === undefined
    ? []
    : queryWords(q).map((word) => ({ word, isWhole: word.length === 1 && !unspaced.test(word) })))
]

/** Whether a record that is not in the index yet matches. */
export const matchesSearch = (search: Search, record: Searchable): boolean => {
  const words = [...originWords(record.domain, record.keyId), ...recipientWords(record), ...contentWords(record)]
  return soughtBy(search).every(({ isWhole, word }) =>
    words.some((has) => isWhole ? has === word : has.startsWith(word))
  )
}

const quoted = (word: string) =>
  /['\\]/.test(word) ? `'${word.replaceAll("'", "''").replaceAll("\\", "\\\\")}'` : `'${word}'`

/**
 * A search as a `tsquery`, cut at the beginnings of its words: joined by nothing it compares the words of a record, and joined
 * by a block and a colon the terms of that block.
 */
export const tsqueryPartsOf = (search: Search): ReadonlyArray<string> => {
  const words = soughtBy(search).map(({ isWhole, word }) => `${quoted(word).slice(1)}${isWhole ? "" : ":*"}`)
  return ["'", ...words.map((word, index) => index < words.length - 1 ? `${word} & '` : word)]
}

/** A record as a `tsvector`. Its origin and its recipients have weight A and stay when its texts are erased. */
export const tsvectorOf = (record: Searchable): string => {
  const lasting = new Set([...originWords(record.domain, record.keyId), ...recipientWords(record)])
  const contents = new Set(contentWords(record))
  return [
    ...[...lasting].map((word) => `${quoted(word)}:1A`),
    ...[...contents].filter((word) => !lasting.has(word)).map((word) => `${quoted(word)}:1`)
  ].join(" ")
}
