import type { proto } from "@whiskeysockets/baileys"
import { Option, Result, Schema } from "effect"
import { MessageContent } from "../../../messages/Message.ts"
import { baileys } from "../wire/MessageBody.ts"
import { clean } from "../wire/Stanza.ts"

/** A message in the terms of the API. It is stored in this form (see `InboxItem`), so fields may only be added. */
export const InboundMessage = Schema.Struct({
  type: Schema.String,
  content: MessageContent,
  /** The WhatsApp id of the message that it answers, reacts to or edits. */
  refersTo: Schema.optional(Schema.String),
  /** The group of that message, if a person answers it in private. */
  refersToGroup: Schema.optionalKey(Schema.String),
  /** It carries a file, which {@link mediaPart} locates. */
  hasFile: Schema.Boolean
})
export type InboundMessage = typeof InboundMessage.Type

/** The location of a file at WhatsApp, and the key that opens it. */
export interface MediaPart {
  readonly kind: "audio" | "document" | "image" | "sticker" | "video"
  readonly url: string
  readonly directPath: string
  readonly mediaKey: Uint8Array
  readonly mimeType: string
}

/** A message that the session's phone sends again. */
export interface ResentMessage {
  readonly id: string
  /** The phone's name for the chat. */
  readonly chat: string
  readonly participant: string | undefined
  readonly isOwn: boolean
  /** Seconds since 1970, in the form of the attribute. */
  readonly t: string
  readonly pushName: string
  /** The serialised message. */
  readonly body: Uint8Array
}

type Message = proto.IMessage
type Fields = Readonly<Record<string, Schema.Json | undefined>>

const present = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, Schema.Json] => field[1] !== undefined && field[1] !== "")
  )

interface Parts {
  readonly body?: string | null | undefined
  readonly more?: Fields
  readonly context?: proto.IContextInfo | null | undefined
}

type Parsed = Omit<InboundMessage, "hasFile">

const inbound = (type: string, { body, context, more = {} }: Parts): Parsed => ({
  type,
  content: { ...present(more), body: clean(body) },
  refersTo: context?.stanzaId ? clean(context.stanzaId) : undefined,
  ...(context?.remoteJid?.endsWith("@g.us") === true && { refersToGroup: clean(context.remoteJid) })
})

/** The type and the size of a file, as its sender states them. */
const media = ({ fileLength, mimetype }: Pick<proto.Message.IImageMessage, "fileLength" | "mimetype">): Fields => {
  const size = Number(fileLength ?? 0)
  return { mime_type: clean(mimetype), size: size > 0 && Number.isSafeInteger(size) ? size : undefined }
}

const phonesOf = (vcard: string | null | undefined) =>
  [...clean(vcard).matchAll(/^(?:item\d+\.)?TEL([^:\r\n]*):([^\r\n]*)/gim)].map(([, parameters = "", number = ""]) => {
    const id = /waid=(\d{5,20})/i.exec(parameters)?.[1]
    return id === undefined ? number.trim() : `+${id}`
  })

const contacts = (cards: ReadonlyArray<proto.Message.IContactMessage>, name: string | null | undefined) =>
  inbound("contact", {
    body: name,
    context: cards[0]?.contextInfo,
    more: { name: clean(name), phones: cards.flatMap(({ vcard }) => phonesOf(vcard)) }
  })

/** A hostile sender may write infinity, which JSON does not have. */
const coordinate = (degrees: number | null | undefined) => Number.isFinite(degrees ?? 0) ? degrees ?? 0 : null

const location = (at: proto.Message.ILocationMessage | proto.Message.ILiveLocationMessage, name?: string | null) =>
  inbound("location", {
    body: name ?? ("caption" in at ? at.caption : undefined),
    context: at.contextInfo,
    more: { latitude: coordinate(at.degreesLatitude), longitude: coordinate(at.degreesLongitude), name: clean(name) }
  })

const poll = ({ contextInfo, name, options }: proto.Message.IPollCreationMessage) =>
  inbound("poll", {
    body: name,
    context: contextInfo,
    more: { question: clean(name), options: (options ?? []).map(({ optionName }) => clean(optionName)) }
  })

/** Always has an emoji: an empty one removes the reaction. */
const reaction = ({ key, text }: proto.Message.IReactionMessage): Parsed => {
  const { content: { body }, ...rest } = inbound("reaction", { body: text, context: { stanzaId: key?.id ?? null } })
  return { ...rest, content: { body, emoji: body } }
}

/** Messages that carry a file. */
const fileMessage = (message: Message): Parsed | undefined => {
  const { audioMessage, documentMessage, imageMessage, stickerMessage, videoMessage } = message
  const ptv = message.ptvMessage
  if (imageMessage) {
    const { caption, contextInfo } = imageMessage
    return inbound("image", { body: caption, context: contextInfo, more: media(imageMessage) })
  }
  const video = videoMessage ?? ptv
  if (video) return inbound("video", { body: video.caption, context: video.contextInfo, more: media(video) })
  if (audioMessage) {
    const { contextInfo, ptt, seconds } = audioMessage
    const more = { ...media(audioMessage), voice: ptt === true, seconds: seconds ?? undefined }
    return inbound("audio", { context: contextInfo, more })
  }
  if (documentMessage) {
    const { caption, contextInfo, fileName } = documentMessage
    const more = { ...media(documentMessage), filename: clean(fileName) }
    return inbound("document", { body: caption, context: contextInfo, more })
  }
  return stickerMessage
    ? inbound("sticker", { context: stickerMessage.contextInfo, more: media(stickerMessage) })
    : undefined
}

/** Messages without a file. */
const plainMessage = (message: Message): Parsed | undefined => {
  const { contactMessage, contactsArrayMessage, conversation, extendedTextMessage } = message
  const { liveLocationMessage, locationMessage, reactionMessage } = message
  if (extendedTextMessage) {
    return inbound("text", { body: extendedTextMessage.text, context: extendedTextMessage.contextInfo })
  }
  if (conversation) return inbound("text", { body: conversation })
  if (reactionMessage) return reaction(reactionMessage)
  if (locationMessage) return location(locationMessage, locationMessage.name)
  if (liveLocationMessage) return location(liveLocationMessage)
  if (contactMessage) return contacts([contactMessage], contactMessage.displayName)
  if (contactsArrayMessage) return contacts(contactsArrayMessage.contacts ?? [], contactsArrayMessage.displayName)
  const question = message.pollCreationMessage ?? message.pollCreationMessageV2 ?? message.pollCreationMessageV3
  return question ? poll(question) : undefined
}

/** Parts for the receiving program, not for people. */
const technical: ReadonlySet<string> = new Set([
  "senderKeyDistributionMessage",
  "fastRatchetKeySenderKeyDistributionMessage",
  "messageContextInfo",
  "protocolMessage",
  "pollUpdateMessage",
  "encReactionMessage",
  "encCommentMessage",
  "keepInChatMessage",
  "pinInChatMessage"
])

/** An edit: it carries the whole new text and the id of the edited message. */
const editMessage = ({ protocolMessage: said }: Message): Parsed | undefined => {
  if (said?.type !== baileys().proto.Message.ProtocolMessage.Type.MESSAGE_EDIT) return undefined
  const edited = baileys().normalizeMessageContent(said.editedMessage)
  const found = edited && (fileMessage(edited) ?? plainMessage(edited))
  return found && inbound("edit", { body: found.content.body, context: { stanzaId: said.key?.id ?? null } })
}

const decoded = (bytes: Uint8Array) =>
  Option.getOrUndefined(Result.getSuccess(Result.try(() => baileys().proto.Message.decode(bytes))))

const mediaIn = (message: Message): MediaPart | undefined => {
  const parts = [
    ["image", message.imageMessage],
    ["video", message.videoMessage ?? message.ptvMessage],
    ["audio", message.audioMessage],
    ["document", message.documentMessage],
    ["sticker", message.stickerMessage]
  ] as const
  const [kind, part] = parts.find(([, found]) => found) ?? []
  if (kind === undefined || !part?.mediaKey) return undefined
  const { directPath, mediaKey, mimetype, url } = part
  return { kind, url: url ?? "", directPath: directPath ?? "", mediaKey, mimeType: mimetype ?? "" }
}

/** Locates the file of a serialised message. */
export const mediaPart = (bytes: Uint8Array): MediaPart | undefined => {
  const message = baileys().normalizeMessageContent(decoded(bytes))
  return message && mediaIn(message)
}

/** A message of a kind that the API does not know; undefined if it has only technical parts. */
const unsupportedMessage = (message: Message): Parsed | undefined => {
  const kinds = Object.entries(message).filter(([, value]) => value !== null && value !== undefined && value !== "")
  return kinds.every(([kind]) => technical.has(kind)) ? undefined : inbound("unsupported", {})
}

/**
 * Parses a serialised message. Undefined if it has no content for people, or if it is a copy of a message that the
 * session's own phone sent. Total.
 */
export const inboundMessage = (bytes: Uint8Array): InboundMessage | undefined => {
  const whole = decoded(bytes)
  const message = baileys().normalizeMessageContent(whole)
  if (!message || whole?.deviceSentMessage) return undefined
  const parsed = fileMessage(message) ?? plainMessage(message) ?? editMessage(message) ?? unsupportedMessage(message)
  return parsed && { ...parsed, hasFile: mediaIn(message) !== undefined }
}

const resent = (bytes: Uint8Array): ReadonlyArray<ResentMessage> => {
  const info = Option.getOrUndefined(Result.getSuccess(Result.try(() => baileys().proto.WebMessageInfo.decode(bytes))))
  if (!info?.key?.id || !info.message) return []
  const { key, message, messageTimestamp, participant, pushName } = info
  return [{
    id: key.id ?? "",
    chat: key.remoteJid ?? "",
    participant: key.participant || participant || undefined,
    isOwn: key.fromMe === true,
    t: String(Number(messageTimestamp ?? 0)),
    pushName: pushName ?? "",
    body: baileys().proto.Message.encode(message).finish()
  }]
}

/** The messages in the phone's answer to a request for them. Total. */
export const resentMessages = (bytes: Uint8Array): ReadonlyArray<ResentMessage> => {
  const answer = decoded(bytes)?.protocolMessage?.peerDataOperationRequestResponseMessage
  return (answer?.peerDataOperationResult ?? []).flatMap(({ placeholderMessageResendResponse: found }) =>
    found?.webMessageInfoBytes ? resent(found.webMessageInfoBytes) : []
  )
}
