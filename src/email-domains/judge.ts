import type { Judgement, RecordStatus } from "./EmailDomain.ts"

/** Limits the foreign text that is stored and shown. */
const limits = { records: 10, characters: 1_000 }

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const control = /[\u0000-\u001f\u007f]/g

/** Makes the text safe for JSON and PostgreSQL: a TXT record may contain any byte, including NUL. */
const printable = (text: string) =>
  text.slice(0, limits.characters).toWellFormed().replaceAll(
    control,
    (sign) => `\\${sign.charCodeAt(0).toString().padStart(3, "0")}`
  )

/** The verdict on a record with the published texts. `detail` tells the owner what to do. */
export const judge = (status: RecordStatus, found: ReadonlyArray<string>, detail: string): Judgement => ({
  status,
  found: found.slice(0, limits.records).map(printable),
  detail
})

/** For name servers that did not answer, which says nothing about the record. */
export const unanswered = (reason: string): Judgement =>
  judge("temporary_error", [], `${reason}. This says nothing about the record; check again in a few minutes.`)

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
