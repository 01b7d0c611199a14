import { proto } from "@whiskeysockets/baileys"
import { pnJid, userOf } from "../model/Address.ts"
import type { Chats } from "./Chats.ts"
import { chatJid } from "./Envelope.ts"

/** What a phone answers a companion that asks it for messages; undefined where it does not ask. */
export const resendAnswer = (content: proto.IMessage, stanzaId: string, chats: Chats): proto.IMessage | undefined => {
  const asked = content.protocolMessage?.peerDataOperationRequestMessage?.placeholderMessageResendRequest ?? []
  const found = asked.flatMap(({ messageKey }) => chats.get(messageKey?.id ?? "") ?? [])
  if (found.length === 0) return undefined
  const peerDataOperationResult = found.map((message) => {
    const webMessageInfoBytes = proto.WebMessageInfo.encode({
      key: { id: message.id, remoteJid: chatJid(message.chat, message.addressing), fromMe: false },
      participant: pnJid(userOf(message.from)),
      messageTimestamp: Math.floor(message.at / 1000),
      message: proto.Message.decode(message.content)
    }).finish()
    return { placeholderMessageResendResponse: { webMessageInfoBytes } }
  })
  const peerDataOperationRequestType = proto.Message.PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: { peerDataOperationRequestType, stanzaId, peerDataOperationResult }
    }
  }
}
