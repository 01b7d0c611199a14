import { normalizeMessageContent, proto } from "@whiskeysockets/baileys"
import type { Addressing } from "../model/Address.ts"
import type { ChatMessage, ChatMessageStatus } from "../phones/Chats.ts"

/** A message of a phone. */
export interface MessageView {
  readonly id: string
  /** The number of the other phone, or the jid of a group. */
  readonly chat: string
  readonly from: string
  readonly at: number
  readonly addressing: Addressing
  readonly type: string
  readonly text: string | null
  readonly status: ChatMessageStatus
  /** How often it arrived. */
  readonly arrivals: number
  /** The message that it answers. */
  readonly quote: { readonly id: string; readonly text: string | null } | null
  /** The message that it is a reaction to; `text` is the emoji. */
  readonly reactionTo: string | null
  /** Its file. */
  readonly file: { readonly type: string; readonly name: string | null } | null
  /** The options of a poll. */
  readonly options: ReadonlyArray<string>
}

const fileOf = ({ audioMessage, documentMessage, imageMessage, stickerMessage, videoMessage }: proto.IMessage) => {
  const part = audioMessage ?? documentMessage ?? imageMessage ?? stickerMessage ?? videoMessage
  if (part === null || part === undefined) return null
  return { type: part.mimetype ?? "application/octet-stream", name: documentMessage?.fileName ?? null }
}

/** Every kind of content may quote a message. */
const contextOf = (message: proto.IMessage): proto.IContextInfo | undefined =>
  Object.values(message).map((part) =>
    typeof part === "object" && part !== null && "contextInfo" in part ? part.contextInfo : undefined
  ).find((context) => context?.stanzaId)

const textOf = (message: proto.IMessage | null | undefined) =>
  message?.conversation ?? message?.extendedTextMessage?.text ?? message?.imageMessage?.caption ?? null

/** A stored message as pages and tests see it. */
export const viewOf = ({ content, fromDevice: _, sequence: __, ...message }: ChatMessage): MessageView => {
  const decoded = normalizeMessageContent(proto.Message.decode(content)) ?? {}
  const context = contextOf(decoded)
  const poll = decoded.pollCreationMessage ?? decoded.pollCreationMessageV3
  return {
    ...message,
    quote: context?.stanzaId ? { id: context.stanzaId, text: textOf(context.quotedMessage) } : null,
    reactionTo: decoded.reactionMessage?.key?.id ?? null,
    file: fileOf(decoded),
    options: (poll?.options ?? []).map(({ optionName }) => optionName ?? "")
  }
}
