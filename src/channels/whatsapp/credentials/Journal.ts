import { Context, type Effect } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { Stanza } from "../wire/Stanza.ts"

/** A message that was decrypted and is not yet acknowledged to WhatsApp. */
export interface Decrypted {
  readonly sessionId: WhatsAppSessionId
  /** The stanza that carried it. Its attributes hold id, sender, participant and time. */
  readonly envelope: Stanza
  /** Without its padding: a serialised protobuf message. */
  readonly plaintext: Uint8Array
}

/** A decrypted message, with a function that encrypts under its session's data key. */
export interface Journaled extends Decrypted {
  readonly conceal: (place: string, plain: Uint8Array) => Uint8Array
}

/**
 * Port: stores messages in the transaction of the ratchet steps that decrypted them. A message decrypts only once and is
 * acknowledged right afterwards, so a message that the journal does not store is lost when the process dies.
 */
export class Journal extends Context.Service<Journal, {
  readonly write: (messages: ReadonlyArray<Journaled>) => Effect.Effect<void>
}>()("messaging-service/channels/whatsapp/credentials/Journal") {}
