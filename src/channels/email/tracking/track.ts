import type { Placeholder, TemplatePart } from "../../../templates/TemplatePart.ts"
import { findLinks } from "./findLinks.ts"

/** Further links of one mail stay unchanged. */
const maxLinks = 1_000

/** Marks a placeholder while the HTML is read. No text holds a NUL, because PostgreSQL stores none. */
const hole = "\0"

const flat = ({ literals }: TemplatePart) => literals.join(hole)

/** Wraps rendered HTML as a part without placeholders. */
export const fixedPart = (html: string): TemplatePart => ({ literals: [html], placeholders: [] })

/**
 * Returns the distinct targets of a mail's links in the order of their first occurrence. Links with a placeholder are
 * left out: their target differs for each recipient.
 */
export const targetsOf = (html: TemplatePart): ReadonlyArray<string> =>
  [...new Set(findLinks(flat(html)).links.map(({ url }) => url))].slice(0, maxLinks)

// Templates cannot write this name, so it shadows no recipient's value.
const space = ""

const openName = "open"

const place = (name: string): Placeholder => ({ name: `${space}.${name}`, path: [space, name], fallback: undefined })

const pixelStart = "<img src=\""
const pixelEnd = "\" width=\"1\" height=\"1\" alt=\"\" style=\"border:0;width:1px;height:1px\">"

interface Insertion {
  readonly start: number
  readonly end: number
  readonly before: string
  readonly name: string
  readonly after: string
}

const insertionsOf = (
  text: string,
  { opens, targets }: { readonly opens: boolean; readonly targets: ReadonlyArray<string> }
) => {
  const { bodyEnd, links } = findLinks(text)
  const indexes = new Map(targets.map((url, index) => [url, index]))
  const insertions: Array<Insertion> = []
  for (const { end, start, url } of links) {
    const index = indexes.get(url)
    if (index !== undefined) insertions.push({ start, end, before: "", name: String(index), after: "" })
  }
  if (opens) insertions.push({ start: bodyEnd, end: bodyEnd, before: pixelStart, name: openName, after: pixelEnd })
  return insertions.toSorted((a, b) => a.start - b.start)
}

/**
 * Adds placeholders for each recipient's links and pixel to the HTML of a mail, once for all recipients. Only links to
 * one of `targets` change.
 */
export const track = (
  html: TemplatePart,
  options: { readonly opens: boolean; readonly targets: ReadonlyArray<string> }
): TemplatePart => {
  const text = flat(html)
  const literals: Array<string> = []
  const placeholders: Array<Placeholder> = []
  let literal = ""
  let at = 0
  let next = 0
  /** Copies the text up to `until` with its placeholders. */
  const copy = (until: number) => {
    const [first = "", ...rest] = text.slice(at, until).split(hole)
    literal += first
    for (const part of rest) {
      literals.push(literal)
      placeholders.push(...html.placeholders.slice(next, ++next))
      literal = part
    }
    at = until
  }
  for (const { after, before, end, name, start } of insertionsOf(text, options)) {
    copy(start)
    literals.push(literal + before)
    placeholders.push(place(name))
    literal = after
    at = end
  }
  copy(text.length)
  return { literals: [...literals, literal], placeholders }
}

/** Returns one recipient's values for the placeholders of {@link track}. */
export const trackingValues = (
  urls: { readonly open: string; readonly clicks: ReadonlyArray<string> }
): Readonly<Record<string, unknown>> => ({ [space]: { ...urls.clicks, [openName]: urls.open } })
