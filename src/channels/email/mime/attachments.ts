/** A file that goes with a message. */
export interface Attachment {
  readonly filename: string
  readonly content: Uint8Array
  /** `type/subtype`; anything else is sent as application/octet-stream. */
  readonly content_type: string
}

const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/i

// Types that would make the part a container, or that must not be base64 (RFC 2045 6.4).
const composite = /^(?:multipart|message)\//i

const simpleName = /^[\w.-][\w .-]{0,58}[\w.-]$/

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unfitForNames = /[\u0000-\u001f\u007f/\\]/g

/** The parameter, in pieces that fit into lines where the name is long or not ASCII (RFC 2231). */
const filenameParameter = (filename: string): string => {
  const name = filename.toWellFormed().replaceAll(unfitForNames, "_")
  if (simpleName.test(name)) return `filename="${name}"`
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  const pieces = encoded.match(/(?:%[0-9A-F]{2}|[^%]){1,18}/g) ?? [""]
  return pieces.map((piece, index) => `filename*${index}*=${index === 0 ? "UTF-8''" : ""}${piece}`).join(";\r\n ")
}

/** The Content fields of the file, and its base64 in lines of 76 without a line end after the last. */
export const attachmentPart = ({ content, content_type, filename }: Attachment) => {
  const type = mediaType.test(content_type) && !composite.test(content_type) ? content_type : "application/octet-stream"
  const base64 = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64")
  return {
    fields: [
      `Content-Type: ${type}`,
      "Content-Transfer-Encoding: base64",
      `Content-Disposition: attachment;\r\n ${filenameParameter(filename)}\r\n`
    ].join("\r\n"),
    body: [(base64.match(/.{1,76}/g) ?? []).join("\r\n")]
  }
}
