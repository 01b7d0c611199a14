/** A link of a mail: where it leads, and its words. */
interface MailLink {
  readonly href: string
  readonly text: string
}

/** What the markup of a mail has that some readers miss or mistrust. */
export interface MailParts {
  readonly images: number
  /** The addresses of images without an alternative text. An empty text counts: it says that the image is decoration. */
  readonly withoutAlt: ReadonlyArray<string>
  readonly links: ReadonlyArray<MailLink>
}

const attribute = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'", nbsp: " " }

const plain = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (all, name: string) => entities[name] ?? all)

const attributesOf = (tag: string): ReadonlyMap<string, string> =>
  new Map(
    [...tag.matchAll(attribute)].slice(1).map(([, name = "", double, single, bare]) =>
      [name.toLowerCase(), plain(double ?? single ?? bare ?? "").trim()] as const
    )
  )

/** Where a tag ends: a `>` in quotes is a part of a value. */
const endOf = (markup: string, from: number): number => {
  let quote = ""
  for (let at = from; at < markup.length; at++) {
    const sign = markup[at] ?? ""
    if (quote !== "") quote = sign === quote ? "" : quote
    else if (sign === ">") return at
    else if (sign === "\"" || sign === "'") quote = sign
  }
  return markup.length
}

/** Where the next tag begins: another `<` is text. */
const beginAt = (markup: string, from: number): number => {
  const begin = /<(?=[a-z/!?])/gi
  begin.lastIndex = from
  return begin.exec(markup)?.index ?? markup.length
}

/** The tags of a markup with the text after each, in one pass. Of a comment only the text after it counts. */
const tagsOf = (markup: string) => {
  const tags: Array<{ readonly tag: string; readonly after: string }> = []
  for (let open = beginAt(markup, 0); open < markup.length;) {
    const isComment = markup.startsWith("<!--", open)
    const close = isComment ? markup.indexOf("-->", open) : endOf(markup, open)
    const end = close < 0 ? markup.length : close + (isComment ? 3 : 1)
    const next = beginAt(markup, end)
    tags.push({ tag: isComment ? "" : markup.slice(open + 1, end - 1), after: markup.slice(end, next) })
    open = next
  }
  return tags
}

/** Reads images and links as mail clients do, which is no check of the markup. Linear in its length. */
export const mailParts = (markup: string): MailParts => {
  const found = { images: 0, withoutAlt: [] as Array<string>, links: [] as Array<MailLink> }
  let link: MailLink | undefined
  for (const { after, tag } of tagsOf(markup)) {
    const [, name = ""] = /^(\/?[a-z][a-z0-9]*)(?=[\s/]|$)/i.exec(tag) ?? []
    const element = name.toLowerCase()
    if (element === "img") {
      const attributes = attributesOf(tag)
      found.images += 1
      if (attributes.has("alt")) link &&= { ...link, text: `${link.text} ${attributes.get("alt")}` }
      else found.withoutAlt.push(attributes.get("src") ?? "")
    }
    if ((element === "a" || element === "/a") && link !== undefined) {
      found.links.push({ ...link, text: link.text.replaceAll(/\s+/g, " ").trim() })
      link = undefined
    }
    const href = element === "a" ? attributesOf(tag).get("href") : undefined
    if (href !== undefined) link = { href, text: "" }
    link &&= { ...link, text: link.text + plain(after) }
  }
  if (link !== undefined) found.links.push(link)
  return found
}
