import { normalizeMessageContent } from "@whiskeysockets/baileys"
import type { proto } from "@whiskeysockets/baileys"

/** The type that the stanza of a message has. */
export const stanzaType = (content: proto.IMessage): string => {
  const message = normalizeMessageContent(content) ?? {}
  if (message.reactionMessage) return "reaction"
  if (message.pollCreationMessage || message.pollCreationMessageV3 || message.pollUpdateMessage) return "poll"
  return message.imageMessage || message.videoMessage || message.audioMessage || message.documentMessage ||
      message.stickerMessage
    ? "media"
    : "text"
}
