import { proto } from "@whiskeysockets/baileys"
import * as NodeZlib from "node:zlib"
import { lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Phones } from "./Phones.ts"

/**
 * The first words of a phone to a new companion: a history without messages that says who has which LID. Clients hold
 * back their events until it comes.
 */
export const historyFor = (phones: Phones): proto.IMessage => {
  const history = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
    progress: 100,
    phoneNumberToLidMappings: phones.all().map(({ number }) => ({
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
