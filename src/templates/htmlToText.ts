import { Result } from "effect"
import type * as Library from "html-to-text"
import { createRequire } from "node:module"
import type { Placeholder, TemplatePart } from "./TemplatePart.ts"

const require = createRequire(import.meta.url)

/** Loaded at its first use: it takes 2 MB. */
const library = (): typeof Library => require("html-to-text")

/** Mail clients clip larger mail, and converting it would block the process. It is sent without a text. */
const maxLength = 131_072

/** Nested lists repeat their indentation on each line. A text that grows this much is useless. */
const maxGrowth = 2

/** The parser's cost grows with the square of the nesting, so a hostile document could block the process. */
const maxDepth = 2_000

const unpaired = new Set("area base br col embed hr img input link meta source track wbr".split(" "))

/**
 * Whether at most {@link maxDepth} elements can be open at once. Counts by element name and ignores unmatched closing
 * tags, which is never less than the parser's stack.
 */
const isShallow = (html: string): boolean => {
  const open = new Map<string, number>()
  let depth = 0
  for (const [, slash, tag] of html.matchAll(/<(\/?)([A-Za-z][^\s/>]*)/g)) {
    const name = (tag ?? "").toLowerCase()
    const count = open.get(name) ?? 0
    if (unpaired.has(name) || (slash === "/" && count === 0)) continue
    const step = slash === "/" ? -1 : 1
    open.set(name, count + step)
    depth += step
    if (depth > maxDepth) return false
  }
  return true
}

const heading = (selector: string) => ({ selector, options: { uppercase: false } })

const options: Library.HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 100 },
  formatters: {
    alternativeText: (element, _walk, builder) => {
      const text = element.attribs["alt"]
      if (text !== undefined && text !== "") builder.addInline(text)
    }
  },
  selectors: [
    { selector: "img", format: "alternativeText" },
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["<", ">"] } },
    // A prefix on each line of nested quotes would multiply the text's length.
    { selector: "blockquote", format: "block" },
    { selector: "ul", options: { itemPrefix: "* " } },
    { selector: "table", options: { uppercaseHeaderCells: false } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map(heading)
  ]
}

let converter: ((html: string) => string) | undefined

const convert = (html: string) => {
  converter ??= library().compile(options)
  return converter(html)
}

// Private-use characters carry the placeholders through the conversion. They cannot be typed in a template.
const mark = (index: number) => `\ue000${index}\ue001`
const marks = /\ue000(\d+)\ue001/

/** The converted text with its marks resolved. Marks forged with entities are dropped. */
const unmark = (text: string, placeholders: ReadonlyArray<Placeholder>): TemplatePart => {
  const literals: Array<string> = []
  const found: Array<Placeholder> = []
  let literal = ""
  for (const [index, piece] of text.split(marks).entries()) {
    const placeholder = index % 2 === 1 ? placeholders[Number(piece)] : undefined
    if (placeholder !== undefined) {
      literals.push(literal)
      found.push(placeholder)
      literal = ""
    } else if (index % 2 === 0) literal += piece
  }
  return { literals: [...literals, literal], placeholders: found }
}

// The library throws on numbers that it cannot format, as in <ol type="I" start="10000">.
const attempt = (html: string) => Result.getOrUndefined(Result.try(() => convert(html)))

/**
 * The plain-text version of an HTML template, with its placeholders. Derived once per template. Undefined if the HTML
 * is too large, too deeply nested or invalid.
 */
export const htmlToText = (html: TemplatePart): TemplatePart | undefined => {
  const source = html.literals
    .map((literal, index) =>
      literal.replaceAll(/[\ue000\ue001]/g, "") + (index in html.placeholders ? mark(index) : "")
    )
    .join("")
  const text = source.length > maxLength || !isShallow(source) ? undefined : attempt(source)
  return text === undefined || text.length > maxGrowth * source.length + 100
    ? undefined
    : unmark(text, html.placeholders)
}
