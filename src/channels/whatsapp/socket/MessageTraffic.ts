import { Context, Effect, type Scope } from "effect"
import type { OwnedSession } from "../model/Session.ts"
import type { SessionTraffic } from "./WhatsAppSocket.ts"

/** The inbound half: messages, groups and people. The data key opens stored messages. */
export interface InboundPart {
  readonly attach: (
    owned: OwnedSession,
    dataKey: Uint8Array
  ) => Effect.Effect<Omit<SessionTraffic, "sentMessage">, never, Scope.Scope>
}

/** The outbound half: sending, acknowledgements and receipts. */
export interface OutboundPart {
  readonly attach: (
    owned: OwnedSession
  ) => Effect.Effect<Omit<SessionTraffic, "groupMetadata" | "onPeople">, never, Scope.Scope>
}

/** Port: handles the messages of sessions. A connection attaches before it opens, and its scope detaches it. */
export class MessageTraffic extends Context.Service<MessageTraffic, {
  readonly attach: (owned: OwnedSession, dataKey: Uint8Array) => Effect.Effect<SessionTraffic, never, Scope.Scope>
}>()("messaging-service/channels/whatsapp/socket/MessageTraffic") {
  /** Joins the two halves. The inbound half handles each event first. */
  static readonly join = (inbound: InboundPart, outbound: OutboundPart) =>
    MessageTraffic.of({
      attach: Effect.fnUntraced(function*(owned, dataKey) {
        const received = yield* inbound.attach(owned, dataKey)
        const sent = yield* outbound.attach(owned)
        return {
          ...received,
          ...sent,
          onOpened: (socket) => Effect.andThen(received.onOpened(socket), sent.onOpened(socket)),
          onStanza: (kind, stanza) => {
            received.onStanza(kind, stanza)
            sent.onStanza(kind, stanza)
          }
        }
      })
    })
}
