import { childrenOf, type Stanza } from "../wire/Stanza.ts"

/** Which stanza a ciphertext came in: the library hands the very bytes on. */
export const makeEnvelopes = () => {
  const envelopes = new WeakMap<Uint8Array, Stanza>()
  return {
    of: (ciphertext: Uint8Array) => envelopes.get(ciphertext),
    note: (stanza: Stanza) => {
      for (const { content } of childrenOf(stanza)) if (content instanceof Uint8Array) envelopes.set(content, stanza)
    }
  }
}
