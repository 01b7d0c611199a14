import { authorIn, inboundEnvelope } from "./inboundEnvelope.ts"
import type { InboxItem } from "./InboundEvents.ts"
import { inboundMessage, mediaPart } from "./inboundMessage.ts"
import type { Payload } from "./inboxPayload.ts"
import type { PendingRow } from "./InboxRepo.ts"

/** What a row of the inbox says, whose payload is open; nothing where it could not be opened. */
export const inboxItem = (row: PendingRow, payload: Payload | undefined): InboxItem => {
  const item = { id: row.id, chat: row.chat, whatsappId: row.whatsapp_id }
  const nothing = { ...item, kind: "nothing" } as const
  if (payload === undefined) return nothing
  const { attrs, body, change } = payload
  if (change !== undefined) {
    return {
      ...item,
      kind: "group",
      action: change.tag === "add" ? "add" : "remove",
      actor: authorIn(attrs["participant"], attrs["participant_lid"], attrs["participant_pn"]),
      members: change.members.map((member) => authorIn(member["jid"], member["lid"], member["phone_number"]))
    }
  }
  const outside = inboundEnvelope({ tag: "message", attrs })
  const message = body === undefined ? undefined : inboundMessage(body)
  if (outside === undefined || message === undefined || body === undefined) return nothing
  const { author, isGroup, pushName, sentAt } = outside
  return {
    ...item,
    kind: "message",
    author,
    isGroup,
    pushName,
    sentAt,
    message,
    hasFile: mediaPart(body) !== undefined
  }
}
