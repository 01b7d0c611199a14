import { Context, Effect } from "effect"
import type { MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { QuotedMessage } from "./WhatsAppSocket.ts"

/** Port: what WhatsApp calls a message that this session has received; the inbound half knows it. */
export const ReceivedMessages = Context.Reference<
  (sessionId: WhatsAppSessionId, id: MessageId) => Effect.Effect<QuotedMessage | undefined>
>("messaging-service/channels/whatsapp/ReceivedMessages", { defaultValue: () => () => Effect.undefined })

/** Port: the WhatsApp id (`…@g.us`) of a group of this session by its number in the API. */
export const GroupDirectory = Context.Reference<
  (sessionId: WhatsAppSessionId, groupId: number) => Effect.Effect<string | undefined>
>("messaging-service/channels/whatsapp/GroupDirectory", { defaultValue: () => () => Effect.undefined })
