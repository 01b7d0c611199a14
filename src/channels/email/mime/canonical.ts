/** A field in the relaxed form (RFC 6376 3.4.2), without its line end. */
export const relaxedField = (field: string): string => {
  const colon = field.indexOf(":")
  const value = field.slice(colon + 1).replaceAll(/[ \t\r\n]{2,}|[\t\r\n]/g, " ")
  const start = value.startsWith(" ") ? 1 : 0
  const end = value.endsWith(" ") ? value.length - 1 : value.length
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value.slice(start, end)}`
}

const bareLineEnd = /\r(?!\n)|(?<!\r)\n/

/**
 * A body in the relaxed form (RFC 6376 3.4.4). Undefined when it has a bare CR or LF, which the next relay would mend
 * and thereby break the signature. As text, because V8 searches it faster than a loop looks at bytes.
 */
export const relaxedBody = (body: Buffer): Buffer | undefined => {
  const text = body.toString("latin1")
  if (bareLineEnd.test(text)) return undefined
  const lines = text.replaceAll(/[ \t]{2,}|\t/g, " ").replaceAll(" \r\n", "\r\n")
  let end = lines.endsWith(" ") ? lines.length - 1 : lines.length
  while (lines.endsWith("\r\n", end)) end -= 2
  return Buffer.from(end === 0 ? "" : `${lines.slice(0, end)}\r\n`, "latin1")
}
