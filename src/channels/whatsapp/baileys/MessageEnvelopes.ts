import { inboundEnvelope } from "../inbox/inboundEnvelope.ts"
import { type ResentMessage, resentMessages } from "../inbox/inboundMessage.ts"
import { childrenOf, type Stanza } from "../wire/Stanza.ts"

/** A message with the stanza that carried it, or would have carried it. */
interface Enveloped {
  readonly envelope: Stanza
  readonly plaintext: Uint8Array
}

/** Unreadable messages that a connection remembers. The library asks for each within seconds. */
const capacity = 100

/** A stanza from the phone's copy alone. Only groups and hidden numbers surely have the same chat id as the original. */
const stanzaOf = ({ chat, id, isOwn, participant, pushName, t }: ResentMessage): Stanza | undefined =>
  isOwn || !/@(g\.us|lid)$/.test(chat)
    ? undefined
    : { tag: "message", attrs: { id, from: chat, t, ...(participant && { participant }), notify: pushName } }

/**
 * Finds the stanza of each decrypted message.
 *
 * Some messages arrive without content, for example after a click on an advertisement, or cannot be decrypted. The
 * library then asks the session's phone, which sends copies inside a peer message. Each copy gets its original stanza, so
 * a message that arrives both ways has one identity.
 */
export const make = (isOwn: (jid: string) => boolean) => {
  // The library passes on the very bytes of the stanza.
  const byCiphertext = new WeakMap<Uint8Array, Stanza>()
  const unreadable = new Map<string, Stanza>()

  const resent = (envelope: Stanza, plaintext: Uint8Array): ReadonlyArray<Enveloped> => {
    const { category, from = "", id = "" } = envelope.attrs
    // A group message may have its key in one part and its content in another, and each can fail alone.
    if (childrenOf(envelope).filter(({ tag }) => tag === "enc").length === 1) unreadable.delete(id)
    if (category !== "peer" || !isOwn(from)) return []
    return resentMessages(plaintext).flatMap((message) => {
      const stanza = unreadable.get(message.id) ?? stanzaOf(message)
      return stanza === undefined ? [] : [{ envelope: stanza, plaintext: message.body }]
    })
  }

  return {
    /** Remembers a stanza before it is decrypted. */
    note: (stanza: Stanza): void => {
      for (const { content } of childrenOf(stanza)) {
        if (content instanceof Uint8Array) byCiphertext.set(content, stanza)
      }
      const { attrs, tag } = stanza
      const id = attrs["id"] ?? ""
      // The first stanza keeps the id: any sender can choose the same one.
      if (unreadable.has(id) || inboundEnvelope(stanza) === undefined) return
      unreadable.set(id, { tag, attrs })
      const [oldest] = unreadable.keys()
      if (unreadable.size > capacity && oldest !== undefined) unreadable.delete(oldest)
    },
    /** The decrypted message, followed by the copies inside it. */
    messagesOf: (ciphertext: Uint8Array, plaintext: Uint8Array): ReadonlyArray<Enveloped> => {
      const envelope = byCiphertext.get(ciphertext)
      return envelope === undefined ? [] : [{ envelope, plaintext }, ...resent(envelope, plaintext)]
    }
  }
}
