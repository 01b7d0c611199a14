import { normalizeMessageContent, proto } from "@whiskeysockets/baileys"
import { Option, Result } from "effect"
import type { Schema } from "effect"

/** What a message from outside is to the API: its type, and a content that has at least `body`. */
export interface InboundMessage {
  readonly type: string
  readonly content: { readonly body: string } & Readonly<Record<string, Schema.Json>>
  /** Which message it answers or reacts to, by its id at WhatsApp. */
  readonly refersTo: string | undefined
}

/** Where a file lies at WhatsApp, and what opens it. */
export interface MediaPart {
  readonly kind: "audio" | "document" | "image" | "sticker" | "video"
  readonly url: string
  readonly directPath: string
  readonly mediaKey: Uint8Array
  readonly mimeType: string
}

/** A message as the session's phone sends it again. */
export interface ResentMessage {
  readonly id: string
  /** As the phone calls it. */
  readonly chat: string
  readonly participant: string | undefined
  readonly isOwn: boolean
  /** Seconds since 1970, as attributes have it. */
  readonly t: string
  readonly pushName: string
  /** The serialised message. */
  readonly body: Uint8Array
}

type Message = proto.IMessage
type Fields = Readonly<Record<string, Schema.Json | undefined>>

/** PostgreSQL takes neither NUL nor half a surrogate pair, and a stranger may send both. */
const clean = (text: string | null | undefined): string => (text ?? "").replaceAll("\u0000", "").toWellFormed()

const present = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, Schema.Json] => field[1] !== undefined && field[1] !== "")
  )

interface Parts {
  readonly body?: string | null | undefined
  readonly more?: Fields
  readonly context?: proto.IContextInfo | null | undefined
}

const inbound = (type: string, { body, context, more = {} }: Parts): InboundMessage => ({
  type,
  content: { ...present(more), body: clean(body) },
  refersTo: context?.stanzaId ? clean(context.stanzaId) : undefined
})

const media = ({ mimetype }: { readonly mimetype?: string | null }): Fields => ({ mime_type: clean(mimetype) })

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

const location = (at: proto.Message.ILocationMessage | proto.Message.ILiveLocationMessage, name?: string | null) =>
  inbound("location", {
    body: name ?? ("caption" in at ? at.caption : undefined),
    context: at.contextInfo,
    more: { latitude: at.degreesLatitude ?? 0, longitude: at.degreesLongitude ?? 0, name: clean(name) }
  })

const poll = ({ contextInfo, name, options }: proto.Message.IPollCreationMessage) =>
  inbound("poll", {
    body: name,
    context: contextInfo,
    more: { question: clean(name), options: (options ?? []).map(({ optionName }) => clean(optionName)) }
  })

/** Its emoji stands there in any case: an empty one says that the reaction is taken back. */
const reaction = ({ key, text }: proto.Message.IReactionMessage): InboundMessage => {
  const { content: { body }, ...rest } = inbound("reaction", { body: text, context: { stanzaId: key?.id ?? null } })
  return { ...rest, content: { body, emoji: body } }
}

/** What has a file. */
const filesOf = (message: Message): InboundMessage | undefined => {
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

/** What stands in the message itself. */
const wordsOf = (message: Message): InboundMessage | undefined => {
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

/** What programs say to each other; nobody reads it. */
const silent: ReadonlySet<string> = new Set([
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

/** The same message with other words; whoever edits sends all of them, and says which message it was. */
const editOf = ({ protocolMessage: said }: Message): InboundMessage | undefined => {
  if (said?.type !== proto.Message.ProtocolMessage.Type.MESSAGE_EDIT) return undefined
  const edited = normalizeMessageContent(said.editedMessage)
  const found = edited && (filesOf(edited) ?? wordsOf(edited))
  return found && inbound("edit", { body: found.content.body, context: { stanzaId: said.key?.id ?? null } })
}

const decoded = (bytes: Uint8Array) =>
  Option.getOrUndefined(Result.getSuccess(Result.try(() => proto.Message.decode(bytes))))

/**
 * What a serialised message from outside says. Total. Undefined where there is nothing for people in it, and where it is
 * a copy of what the session's own phone has sent.
 */
export const inboundMessage = (bytes: Uint8Array): InboundMessage | undefined => {
  const whole = decoded(bytes)
  const message = normalizeMessageContent(whole)
  if (!message || whole?.deviceSentMessage) return undefined
  const known = filesOf(message) ?? wordsOf(message) ?? editOf(message)
  if (known !== undefined) return known
  const kinds = Object.entries(message).filter(([, value]) => value !== null && value !== undefined && value !== "")
  return kinds.every(([kind]) => silent.has(kind)) ? undefined : inbound("unsupported", {})
}

/** The file of a serialised message. */
export const mediaPart = (bytes: Uint8Array): MediaPart | undefined => {
  const message = normalizeMessageContent(decoded(bytes))
  if (!message) return undefined
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

const resent = (bytes: Uint8Array): ReadonlyArray<ResentMessage> => {
  const info = Option.getOrUndefined(Result.getSuccess(Result.try(() => proto.WebMessageInfo.decode(bytes))))
  if (!info?.key?.id || !info.message) return []
  const { key, message, messageTimestamp, participant, pushName } = info
  return [{
    id: key.id ?? "",
    chat: key.remoteJid ?? "",
    participant: key.participant || participant || undefined,
    isOwn: key.fromMe === true,
    t: String(Number(messageTimestamp ?? 0)),
    pushName: pushName ?? "",
    body: proto.Message.encode(message).finish()
  }]
}

/** The messages in the phone's answer to a device that has asked for them. Total. */
export const resentMessages = (bytes: Uint8Array): ReadonlyArray<ResentMessage> => {
  const answer = decoded(bytes)?.protocolMessage?.peerDataOperationRequestResponseMessage
  return (answer?.peerDataOperationResult ?? []).flatMap(({ placeholderMessageResendResponse: found }) =>
    found?.webMessageInfoBytes ? resent(found.webMessageInfoBytes) : []
  )
}
