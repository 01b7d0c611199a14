/**
 * The tags of a `name=value; name=value` list (RFC 6376, 3.2), names in lower case. Undefined for any other text, and
 * for a repeated name, which invalidates the list.
 */
export const tagList = (text: string): ReadonlyMap<string, string> | undefined => {
  const tags = new Map<string, string>()
  for (const part of text.split(";")) {
    if (part.trim() === "") continue
    const at = part.indexOf("=")
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase()
    if (!/^[a-z]\w*$/.test(name) || tags.has(name)) return undefined
    tags.set(name, part.slice(at + 1).trim())
  }
  return tags
}
