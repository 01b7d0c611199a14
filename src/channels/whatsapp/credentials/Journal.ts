import { Context, Effect } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { Stanza } from "../wire/Stanza.ts"

/** A message that was decrypted and not yet acknowledged to WhatsApp. */
export interface Decrypted {
  readonly sessionId: WhatsAppSessionId
  /** The stanza that it came in: id, from, participant and time are its attributes. */
  readonly envelope: Stanza
  /** Without its padding: a serialised protobuf message. */
  readonly plaintext: Uint8Array
}

/** With the means to encrypt under its session's data key. */
export interface Journaled extends Decrypted {
  readonly conceal: (place: string, plain: Uint8Array) => Uint8Array
}

/**
 * What is written in the transaction of the ratchet steps that made messages readable. A message can be decrypted once,
 * and is acknowledged right afterwards: what is not written here is lost when the process dies in between.
 */
export const Journal = Context.Reference<{
  readonly write: (messages: ReadonlyArray<Journaled>) => Effect.Effect<void>
}>("messaging-service/channels/whatsapp/credentials/Journal", { defaultValue: () => ({ write: () => Effect.void }) })
