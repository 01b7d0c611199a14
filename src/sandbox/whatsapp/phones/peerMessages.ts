import { proto } from "@whiskeysockets/baileys"
import * as NodeZlib from "node:zlib"
import { lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Chats } from "./Chats.ts"
import { chatJid } from "./Envelope.ts"

/** The answer to a companion that requests messages; undefined if it requests none that the phone has. */
export const resendAnswer = (content: proto.IMessage, stanzaId: string, chats: Chats): proto.IMessage | undefined => {
  const requested = content.protocolMessage?.peerDataOperationRequestMessage?.placeholderMessageResendRequest ?? []
  const found = requested.flatMap(({ messageKey }) => chats.get(messageKey?.id ?? "") ?? [])
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

/**
 * The first message of a phone to a new companion: an empty history that maps phone numbers to LIDs. Clients buffer
 * their events until it arrives.
 */
export const historyFor = (numbers: ReadonlyArray<string>): proto.IMessage => {
  const history = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
    progress: 100,
    phoneNumberToLidMappings: numbers.map((number) => ({
      pnJid: pnJid(userOf(number)),
      lidJid: lidJid(userOf(number))
    }))
  }).finish()
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
        progress: 100,
        chunkOrder: 1,
        initialHistBootstrapInlinePayload: NodeZlib.deflateSync(history)
      }
    }
  }
}
