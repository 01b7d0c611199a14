import { readHref } from "./readHref.ts"

/** A link of an HTML text: the range of its target without quotes, and the target. */
export interface FoundLink {
  readonly start: number
  readonly end: number
  readonly url: string
}

/** The links of an HTML text, and the place for the pixel. */
export interface Found {
  readonly links: ReadonlyArray<FoundLink>
  /** Before the last `</body>`, else at the end. */
  readonly bodyEnd: number
}

/** Elements that contain text, not markup. */
const rawText: ReadonlySet<string> = new Set([
  "script",
  "style",
  "title",
  "textarea",
  "xmp",
  "iframe",
  "noembed",
  "noframes"
])

const tag = /<(\/?)([a-zA-Z][^\s/>]*)/y
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?/dy
const tagEnd = /[\s/]*>/y

const matchAt = (pattern: RegExp, html: string, at: number) => {
  pattern.lastIndex = at
  return pattern.exec(html)
}

/** Returns the end of the comment, doctype or declaration that starts here. */
const afterDeclaration = (html: string, at: number): number => {
  const isComment = html.startsWith("<!--", at)
  const end = isComment ? html.indexOf("-->", at + 2) : html.indexOf(">", at)
  return end < 0 ? html.length : end + (isComment ? 3 : 1)
}

interface Href {
  readonly start: number
  readonly end: number
}

/** Reads a tag's attributes: the end of the tag and the range of its href. Of equal names the first counts. */
const readAttributes = (html: string, from: number): { readonly after: number; readonly href: Href | undefined } => {
  let at = from
  let href: Href | undefined
  let isKnown = false
  for (let match = matchAt(attribute, html, at); match !== null; match = matchAt(attribute, html, at)) {
    at = attribute.lastIndex
    if (isKnown || match[1]?.toLowerCase() !== "href") continue
    isKnown = true
    const place = match.indices?.[2] ?? match.indices?.[3] ?? match.indices?.[4]
    if (place !== undefined) href = { start: place[0], end: place[1] }
  }
  // Without `>` it is not a tag.
  return matchAt(tagEnd, html, at) === null
    ? { after: Math.max(at, from), href: undefined }
    : { after: tagEnd.lastIndex, href }
}

const afterRawText = (html: string, from: number, name: string): number => {
  const end = new RegExp(`</${name}(?=[\\s/>])`, "gi")
  end.lastIndex = from
  return end.exec(html)?.index ?? html.length
}

/**
 * Finds the links of an HTML text that can be counted, in one pass, as mail programs read them: comments (including
 * Outlook's conditions), scripts, styles and other attributes hold no links. Total, and linear in the text's length.
 */
export const findLinks = (html: string): Found => {
  const links: Array<FoundLink> = []
  let bodyEnd = html.length
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at)) {
    const match = matchAt(tag, html, at)
    if (match === null) {
      at = /[!?/]/.test(html.charAt(at + 1)) ? afterDeclaration(html, at) : at + 1
      continue
    }
    const [, slash, written = ""] = match
    const name = written.toLowerCase()
    const { after, href } = readAttributes(html, tag.lastIndex)
    if (slash === "/") {
      if (name === "body") bodyEnd = at
    } else if (href !== undefined && (name === "a" || name === "area")) {
      const url = readHref(html.slice(href.start, href.end))
      if (url !== undefined) links.push({ ...href, url })
    }
    at = slash === "" && rawText.has(name) ? afterRawText(html, after, name) : after
  }
  return { links, bodyEnd }
}
