import "../../../platform/observability/muteLibsignal.ts"
import {
  generateWAMessageContent,
  proto,
  type SocketConfig,
  type WAMessageContent,
  type WASocket
} from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { plainAgent } from "../../../platform/net/plainAgent.ts"
import { SocketFailed } from "../socket/SocketErrors.ts"
import type {
  Draft,
  KeptMessage,
  NotRelayed,
  OutgoingFile,
  RelayedMessage,
  SendingSocket
} from "../socket/WhatsAppSocket.ts"

type Compose = Parameters<typeof generateWAMessageContent>

/** What the library calls a message that it is to make. */
type LibraryContent = Compose[0]

const vcard = ({ name, phones }: Extract<Draft, { readonly type: "contact" }>["content"]) => {
  const escaped = name.replaceAll(/[\\;,]/g, (sign) => `\\${sign}`)
  const numbers = phones.map((phone) => `TEL;type=CELL;type=VOICE;waid=${phone.slice(1)}:${phone}`)
  return ["BEGIN:VCARD", "VERSION:3.0", `N:;${escaped};;;`, `FN:${escaped}`, ...numbers, "END:VCARD"].join("\n")
}

interface Medium {
  readonly content: { readonly caption?: string }
  readonly file: OutgoingFile
}

const fileOf = ({ file: { stream } }: Pick<Medium, "file">) => ({ stream })

const common = ({ content: { caption }, file: { mimeType: mimetype } }: Medium) => ({
  mimetype,
  ...(caption !== undefined && caption !== "" && { caption })
})

/**
 * No previews are made: the pictures of strangers are not opened by programs of this machine, and no link of a text is
 * fetched from here.
 */
const noThumbnail = { jpegThumbnail: "" }

const contentOf = (draft: Draft): LibraryContent => {
  switch (draft.type) {
    case "text":
      return { text: draft.content.body, linkPreview: null }
    case "location": {
      const { latitude, longitude, name } = draft.content
      return {
        location: { degreesLatitude: latitude, degreesLongitude: longitude, ...(name !== undefined && { name }) }
      }
    }
    case "contact":
      return {
        contacts: {
          displayName: draft.content.name,
          contacts: [{ displayName: draft.content.name, vcard: vcard(draft.content) }]
        }
      }
    case "poll":
      return { poll: { name: draft.content.question, values: [...draft.content.options], selectableCount: 1 } }
    case "reaction": {
      const { author, chat, id, isOwn } = draft.of
      const key = { remoteJid: chat, id, fromMe: isOwn, ...(author !== undefined && { participant: author }) }
      return { react: { text: draft.emoji, key } }
    }
    case "image":
      return { image: fileOf(draft), ...common(draft), ...noThumbnail }
    case "video":
      return { video: fileOf(draft), ...common(draft), ...noThumbnail }
    case "audio":
      return { audio: fileOf(draft), mimetype: draft.file.mimeType }
    case "document":
      return { document: fileOf(draft), ...common(draft), fileName: draft.content.filename ?? "file" }
  }
}

const withoutEmptyThumbnail = (message: WAMessageContent) => {
  if (message.imageMessage) delete message.imageMessage.jpegThumbnail
  if (message.videoMessage) delete message.videoMessage.jpegThumbnail
  return message
}

/** The library's sentence has no content of a message and no key. */
const reasonOf = (error: unknown) => error instanceof Error ? error.message : "no reason was given"

const asking = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (error) => new SocketFailed({ reason: reasonOf(error) }) })

/** The message as it is sent. */
export const messageOf = ({ body, fillIn }: KeptMessage): proto.Message => {
  const message = proto.Message.decode(body)
  if (fillIn === undefined) return message
  const text = message.extendedTextMessage
  if (text?.text) text.text = fillIn(text.text)
  if (message.conversation) message.conversation = fillIn(message.conversation)
  return message
}

/** A serialised message with a file, with other words under it; the file is the same, and is not brought again. */
export const withCaption = (body: Uint8Array, caption = ""): Uint8Array => {
  const message = proto.Message.decode(body)
  const medium = message.imageMessage ?? message.videoMessage ?? message.documentMessage
  if (medium && caption === "") delete medium.caption
  else if (medium) medium.caption = caption
  return proto.Message.encode(message).finish()
}

const absent: ReadonlySet<number | undefined> = new Set([403, 404, 406, 400])

const statusOf = (error: unknown): number | undefined => {
  const data = typeof error === "object" && error !== null && "data" in error ? error.data : undefined
  return typeof data === "number" ? data : undefined
}

/** Where the library connects. A server without TLS has its media beside it, and none elsewhere. */
export const serverAt = (url: string): Pick<SocketConfig, "fetchAgent" | "waWebSocketUrl"> => {
  const { hostname, port, protocol } = new URL(url)
  const fetchAgent = plainAgent({ host: hostname, port: Number(port === "" ? 80 : port) })
  return { waWebSocketUrl: url, ...(protocol === "ws:" && { fetchAgent }) }
}

/** What is sent over a socket of the library. */
export const sendingOf = (
  socket: WASocket,
  { logger, relay }: {
    readonly logger: Compose[1]["logger"]
    readonly relay: (messages: ReadonlyArray<RelayedMessage>) => Promise<ReadonlyArray<NotRelayed>>
  }
): SendingSocket => ({
  chatOf: (number) =>
    Effect.flatMap(asking(() => socket.onWhatsApp(`${number}@s.whatsapp.net`)), (found) =>
      // No answer is not the answer no.
      found === undefined
        ? Effect.fail(new SocketFailed({ reason: "it did not say whether a number exists" }))
        : Effect.succeed(found.find(({ exists }) => Boolean(exists))?.jid)),
  isMember: (group) =>
    asking(() =>
      socket.groupMetadata(group).then(
        () => true,
        (error: unknown) => absent.has(statusOf(error)) ? false : Promise.reject(error)
      )
    ),
  compose: (draft) =>
    asking(() =>
      generateWAMessageContent(contentOf(draft), {
        upload: socket.waUploadToServer,
        ...(logger !== undefined && { logger })
      })
        .then((message) => proto.Message.encode(withoutEmptyThumbnail(message)).finish())
    ),
  relay: (messages) => Effect.promise(() => relay(messages))
})
