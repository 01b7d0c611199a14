import { inboundEnvelope } from "../inbox/inboundEnvelope.ts"
import { type ResentMessage, resentMessages } from "../inbox/inboundMessage.ts"
import { childrenOf, type Stanza } from "../wire/Stanza.ts"

/** A message with the stanza that it came in, or would have come in. */
interface Resent {
  readonly envelope: Stanza
  readonly plaintext: Uint8Array
}

/** Messages without their content that a connection remembers: the library asks for each within seconds. */
const most = 100

/** From what the phone says alone: only where the chat is surely called as in the stanza, be it that this comes as well. */
const stanzaOf = ({ chat, id, isOwn, participant, pushName, t }: ResentMessage): Stanza | undefined =>
  isOwn || !/@(g\.us|lid)$/.test(chat)
    ? undefined
    : { tag: "message", attrs: { id, from: chat, t, ...(participant && { participant }), notify: pushName } }

/**
 * Messages that came without their content, as those after a click on an advertisement do, or could not be decrypted: the
 * library asks the session's phone for them, which sends them in a word between the two. Each is told of as if it had
 * come in its own stanza, so one that comes in both ways is the same message.
 */
export const makeResends = (isOwn: (jid: string) => boolean) => {
  const missing = new Map<string, Stanza>()
  return {
    note: (stanza: Stanza): void => {
      const { attrs, tag } = stanza
      const id = attrs["id"] ?? ""
      // The first one keeps its name: ids are free to choose.
      if (missing.has(id) || inboundEnvelope(stanza) === undefined) return
      missing.set(id, { tag, attrs })
      const [oldest] = missing.keys()
      if (missing.size > most && oldest !== undefined) missing.delete(oldest)
    },
    /** What is in a message that was decrypted. */
    of: (envelope: Stanza, plaintext: Uint8Array): ReadonlyArray<Resent> => {
      const { category, from = "", id = "" } = envelope.attrs
      // In a group the key may be in one part and the message in another, which fails alone.
      if (childrenOf(envelope).filter(({ tag }) => tag === "enc").length === 1) missing.delete(id)
      if (category !== "peer" || !isOwn(from)) return []
      return resentMessages(plaintext).flatMap((message) => {
        const stanza = missing.get(message.id) ?? stanzaOf(message)
        return stanza === undefined ? [] : [{ envelope: stanza, plaintext: message.body }]
      })
    }
  }
}
