/** An XML-like element of WhatsApp's protocol. */
export interface Stanza {
  readonly tag: string
  readonly attrs: Readonly<Record<string, string>>
  readonly content?: ReadonlyArray<Stanza> | string | Uint8Array
}

/** The child elements. An element with text or bytes has none. */
export const childrenOf = ({ content = [] }: Stanza): ReadonlyArray<Stanza> =>
  typeof content === "string" || content instanceof Uint8Array ? [] : content

const printable = /^[ -~]{0,255}$/

/**
 * Whether a text can be a WhatsApp id or address: at most 255 printable ASCII characters, which every column and index
 * accepts. A hostile server may send text that the database refuses.
 */
export const isValidId = (text: string): boolean => printable.test(text)

/** A text that strangers sent, without NUL and half surrogate pairs, which PostgreSQL refuses. */
export const clean = (text: string | null | undefined): string => (text ?? "").replaceAll("\u0000", "").toWellFormed()

const idAttributes = ["id", "from", "recipient", "participant", "sender", "peer_recipient"].flatMap((name) => [
  name,
  `${name}_lid`,
  `${name}_pn`
])

/** Whether the stanza's id and all the addresses in its attributes are valid. */
export const hasValidIds = ({ attrs }: Stanza): boolean => idAttributes.every((name) => isValidId(attrs[name] ?? ""))
