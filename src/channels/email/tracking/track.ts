import type { Placeholder, TemplatePart } from "../../../templates/TemplatePart.ts"
import { findLinks } from "./findLinks.ts"

/** Further links of one mail are left as they are. */
const mostLinks = 1_000

/** Where a placeholder stands while the HTML is read: no text has it, as PostgreSQL stores none. */
const hole = "\0"

const flat = ({ literals }: TemplatePart) => literals.join(hole)

/** HTML that has its values already, as a part without placeholders. */
export const fixedPart = (html: string): TemplatePart => ({ literals: [html], placeholders: [] })

/**
 * The targets of a mail's links, each once, in the order of their first place. A link with a placeholder in it is none of
 * them: it would be another one for each recipient.
 */
export const targetsOf = (html: TemplatePart): ReadonlyArray<string> =>
  [...new Set(findLinks(flat(html)).links.map(({ url }) => url))].slice(0, mostLinks)

// A name that no template can write, so no value of a recipient is shadowed.
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
 * The HTML of a mail with places for the links and the pixel of each recipient, made once for all of them. Of the links,
 * those that lead to one of `targets` change; nothing else does.
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
  /** Up to here, with the placeholders that stand there. */
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

/** What stands in the places of {@link track} for one recipient, beside the recipient's own values. */
export const trackingValues = (
  urls: { readonly open: string; readonly clicks: ReadonlyArray<string> }
): Readonly<Record<string, unknown>> => ({ [space]: { ...urls.clicks, [openName]: urls.open } })
