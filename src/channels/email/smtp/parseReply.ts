/** An SMTP reply taken apart. */
export interface SmtpReply {
  readonly code: number
  /** RFC 3463 status whose class agrees with the code. */
  readonly enhanced?: string
  /** The whole reply as one printable line. */
  readonly response: string
}

/** A reply is foreign text that ends in rows, events and logs: longer ones are cut. */
const maxReplyLength = 500

// C0, DEL, C1, line and paragraph separators, direction overrides: they move a terminal's cursor or turn its text
// around; NUL cannot be stored by PostgreSQL at all.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Makes foreign text one printable, well-formed line of at most 500 characters. */
export const printableLine = (text: string): string => {
  const line = text.slice(0, 4 * maxReplyLength).replaceAll(/[\r\n\t ]+/g, " ").trim().replaceAll(unprintable, "\ufffd")
  return line.slice(0, maxReplyLength).toWellFormed()
}

const replyCode = /^([2345]\d\d)(?:[ -]|$)/
const enhancedStatus = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?=[\s]|$)/m

/** Reads a reply (RFC 5321 4.2), undefined when the text is not one. */
export const parseReply = (text: string): SmtpReply | undefined => {
  const code = replyCode.exec(text)?.[1]
  if (code === undefined) return undefined
  const enhanced = enhancedStatus.exec(text)?.[1]
  return {
    code: Number(code),
    response: printableLine(text),
    ...(enhanced?.[0] === code[0] && enhanced !== undefined ? { enhanced } : {})
  }
}
