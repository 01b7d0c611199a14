import { generateWAMessageContent, proto, type WAMessageContent, type WASocket } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { SocketFailed } from "../socket/SocketErrors.ts"
import type { Draft, NotRelayed, OutgoingFile, RelayedMessage, SendingSocket } from "../socket/WhatsAppSocket.ts"
import { request, statusOf } from "./BaileysErrors.ts"

type Compose = Parameters<typeof generateWAMessageContent>

/** The library's form of a message to compose. */
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

/** No previews: this node neither opens pictures of strangers nor fetches links. */
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
      // Without a length, the library would write the plain file to disk and parse it to compute one.
      return { audio: fileOf(draft), mimetype: draft.file.mimeType, seconds: 0 }
    case "document":
      return { document: fileOf(draft), ...common(draft), fileName: draft.content.filename ?? "file" }
  }
}

const withoutEmptyThumbnail = (message: WAMessageContent) => {
  if (message.imageMessage) delete message.imageMessage.jpegThumbnail
  if (message.videoMessage) delete message.videoMessage.jpegThumbnail
  return message
}

/** Statuses of a group that does not exist or that the session is not in. */
const absent: ReadonlySet<unknown> = new Set([400, 403, 404, 406])

/** Sending over a socket of the library. */
export const sendingOf = (
  socket: WASocket,
  { logger, relay }: {
    readonly logger: Compose[1]["logger"]
    readonly relay: (
      messages: ReadonlyArray<RelayedMessage>,
      isHeld: () => boolean
    ) => Promise<ReadonlyArray<NotRelayed>>
  }
): SendingSocket => ({
  isOpen: () => socket.ws.isOpen,
  chatOf: (number) =>
    Effect.flatMap(request(() => socket.onWhatsApp(`${number}@s.whatsapp.net`)), (found) =>
      // A missing answer does not mean that the number has no WhatsApp.
      found === undefined
        ? Effect.fail(new SocketFailed({ reason: "it did not say whether the number exists" }))
        : Effect.succeed(found.find(({ exists }) => Boolean(exists))?.jid)),
  isMember: (group) =>
    request(() =>
      socket.groupMetadata(group).then(
        () => true,
        (error: unknown) => absent.has(statusOf(error)) ? false : Promise.reject(error)
      )
    ),
  compose: (draft) =>
    request(() =>
      generateWAMessageContent(contentOf(draft), {
        upload: socket.waUploadToServer,
        ...(logger !== undefined && { logger })
      })
        .then((message) => proto.Message.encode(withoutEmptyThumbnail(message)).finish())
    ),
  relay: (messages, isHeld) => Effect.promise(() => relay(messages, isHeld))
})
