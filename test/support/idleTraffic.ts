import { Effect, Layer } from "effect"
import { Journal } from "../../src/channels/whatsapp/credentials/Journal.ts"
import { MessageTraffic } from "../../src/channels/whatsapp/socket/MessageTraffic.ts"
import type { SessionTraffic } from "../../src/channels/whatsapp/socket/WhatsAppSocket.ts"

/** Handlers that ignore every message. */
export const idleTraffic: SessionTraffic = {
  onOpened: () => Effect.void,
  onStanza: () => {},
  onPeople: () => {},
  sentMessage: () => Effect.undefined,
  groupMetadata: () => Effect.undefined
}

/** A journal and traffic without messages, for tests of sessions alone. */
export const IdleTraffic = Layer.mergeAll(
  Layer.succeed(Journal, Journal.of({ write: () => Effect.void })),
  Layer.succeed(MessageTraffic, MessageTraffic.of({ attach: () => Effect.succeed(idleTraffic), wake: () => {} }))
)
