import { Context, Effect, type Scope } from "effect"
import type { MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { QuotedMessage, SessionTraffic } from "./WhatsAppSocket.ts"

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
  /** Looks for messages to send, if the session is attached. */
  readonly wake: (id: WhatsAppSessionId) => void
}

/** Port: handles the messages of sessions. A connection attaches before it opens, and its scope detaches it. */
export class MessageTraffic extends Context.Service<MessageTraffic, {
  readonly attach: (owned: OwnedSession, dataKey: Uint8Array) => Effect.Effect<SessionTraffic, never, Scope.Scope>
  readonly wake: OutboundPart["wake"]
}>()("messaging-service/channels/whatsapp/socket/MessageTraffic") {
  /** Joins the two halves. The inbound half handles each event first. */
  static readonly join = (inbound: InboundPart, outbound: OutboundPart) =>
    MessageTraffic.of({
      wake: outbound.wake,
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

/** Port: finds a message that the session received by its id in the API. The inbox provides it. */
export class ReceivedMessages extends Context.Service<ReceivedMessages, {
  readonly find: (sessionId: WhatsAppSessionId, id: MessageId) => Effect.Effect<QuotedMessage | undefined>
}>()("messaging-service/channels/whatsapp/socket/MessageTraffic/ReceivedMessages") {}

/** Port: finds the WhatsApp id (`…@g.us`) of one of the session's groups by its id in the API. */
export class GroupDirectory extends Context.Service<GroupDirectory, {
  readonly find: (sessionId: WhatsAppSessionId, groupId: number) => Effect.Effect<string | undefined>
}>()("messaging-service/channels/whatsapp/socket/MessageTraffic/GroupDirectory") {}
