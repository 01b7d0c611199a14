import { Context, type Effect } from "effect"
import type { MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { QuotedMessage } from "./WhatsAppSocket.ts"

/** Port: finds a message that the session received by its id in the API. The inbox provides it. */
export class ReceivedMessages extends Context.Service<ReceivedMessages, {
  readonly find: (sessionId: WhatsAppSessionId, id: MessageId) => Effect.Effect<QuotedMessage | undefined>
}>()("messaging-service/channels/whatsapp/socket/MessagePorts/ReceivedMessages") {}

/** Port: finds the WhatsApp id (`…@g.us`) of one of the session's groups by its id in the API. */
export class GroupDirectory extends Context.Service<GroupDirectory, {
  readonly find: (sessionId: WhatsAppSessionId, groupId: number) => Effect.Effect<string | undefined>
}>()("messaging-service/channels/whatsapp/socket/MessagePorts/GroupDirectory") {}
