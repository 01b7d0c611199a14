import { readHref } from "./readHref.ts"

/** One link of an HTML text: where its target stands, quotes not included, and the target. */
export interface FoundLink {
  readonly start: number
  readonly end: number
  readonly url: string
}

/** What is found in an HTML text. */
export interface Found {
  readonly links: ReadonlyArray<FoundLink>
  /** Before the last `</body>`, else at the end. */
  readonly bodyEnd: number
}

/** Elements whose content is text, not markup. */
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

/** After a comment, a doctype or another declaration that begins here. */
const afterDeclaration = (html: string, at: number): number => {
  const isComment = html.startsWith("<!--", at)
  const end = isComment ? html.indexOf("-->", at + 2) : html.indexOf(">", at)
  return end < 0 ? html.length : end + (isComment ? 3 : 1)
}

interface Href {
  readonly start: number
  readonly end: number
}

/** After a tag whose attributes begin here, with the place of its href; the first one of a name is the one that counts. */
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
  // Without its `>` it is no tag at all.
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
 * The links of an HTML text that can be counted, in one pass, read as mail programs read them: comments (Outlook's
 * conditions too), scripts, styles and the values of attributes hold none. Total; linear in the length of the text.
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
