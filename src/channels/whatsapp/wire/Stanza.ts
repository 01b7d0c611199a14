/** An XML-like element of WhatsApp's protocol. */
export interface Stanza {
  readonly tag: string
  readonly attrs: Readonly<Record<string, string>>
  readonly content?: ReadonlyArray<Stanza> | string | Uint8Array
}

/** The elements in an element; none where it has text or bytes. */
export const childrenOf = ({ content = [] }: Stanza): ReadonlyArray<Stanza> =>
  typeof content === "string" || content instanceof Uint8Array ? [] : content
