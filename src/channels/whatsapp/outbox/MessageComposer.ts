import { Effect, Option, Schema } from "effect"
import * as NodeStream from "node:stream"
import { PublicDownload } from "../../../platform/net/PublicDownload.ts"
import type { MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { bareType, detectedType, drawing, type MediaType } from "../content/media.ts"
import { captionOf, contentOfRecord, isGroup, isMedia, type WhatsAppContent } from "../content/MessageContent.ts"
import { ReceivedMessages } from "../socket/MessageTraffic.ts"
import type { SocketFailed } from "../socket/SocketErrors.ts"
import type { Draft, OutgoingFile, SendingSocket } from "../socket/WhatsAppSocket.ts"
import { withCaption } from "../wire/MessageBody.ts"
import { contentGone, groupUnknown, mediaFailed, recipientNotOnWhatsApp } from "./MessageFailures.ts"
import { OutboxRepo, type QueuedMessage } from "./OutboxRepo.ts"

/** The message can never be sent. */
export class NotSendable extends Schema.TaggedError<NotSendable>()("NotSendable", {
  code: Schema.String,
  message: Schema.String
}) {}

const defaultType: Readonly<Record<MediaType, string>> = {
  image: "image/jpeg",
  video: "video/mp4",
  audio: "audio/mpeg",
  document: "application/octet-stream"
}

/** Types that servers send when they do not know the type. */
const unspecific: ReadonlySet<string> = new Set(["application/octet-stream", "binary/octet-stream"])

const typeFault = (type: MediaType, mimeType: string): string | undefined => {
  if (type !== "document" && !mimeType.startsWith(`${type}/`)) return `its type is ${mimeType}, not ${type}`
  return type === "image" && bareType(mimeType) === drawing
    ? `its type is ${mimeType}, which WhatsApp does not show as an image`
    : undefined
}

type Medium = Extract<WhatsAppContent, { readonly type: MediaType }>

const withFile = (message: Medium, file: OutgoingFile): Draft => {
  switch (message.type) {
    case "image":
      return { ...message, file }
    case "video":
      return { ...message, file }
    case "audio":
      return { ...message, file }
    case "document":
      return { ...message, file }
  }
}

/** Chats that a connection caches, which saves a request for each further message to them. */
const maxCachedChats = 2_000

/** Batches whose uploaded file a connection caches. */
const maxSharedFiles = 20

/** Prepares messages for a connection: looks up their chats, uploads their files and serialises them. */
export const make = Effect.gen(function*() {
  const repo = yield* OutboxRepo
  const downloads = yield* PublicDownload
  const received = yield* ReceivedMessages

  const quoted = Effect.fnUntraced(function*(sessionId: WhatsAppSessionId, messageId: MessageId) {
    const own = yield* repo.quoted({ sessionId, messageId })
    if (Option.isSome(own)) return { ...own.value, isOwn: true, author: undefined }
    return yield* received.find(sessionId, messageId)
  })

  const downloaded = Effect.fnUntraced(
    function*(message: Medium, url: string) {
      const download = yield* downloads.open(url)
      const named = download.contentType
      const mimeType = named === undefined || unspecific.has(named)
        ? message.content.mime_type ?? defaultType[message.type]
        : named
      const fault = typeFault(message.type, mimeType)
      if (fault !== undefined) return yield* new NotSendable(mediaFailed("type", fault))
      return {
        file: { stream: download.stream, mimeType: message.content.mime_type ?? mimeType },
        failure: download.failure
      }
    },
    Effect.catchTag("DownloadFailed", ({ detail, reason }) => Effect.fail(new NotSendable(mediaFailed(reason, detail))))
  )

  const inline = Effect.fnUntraced(function*(message: Medium, fileId: number | null) {
    const row = fileId === null ? Option.none() : yield* repo.file(fileId)
    if (Option.isNone(row)) return yield* new NotSendable(contentGone)
    const { content } = row.value
    const mimeType = message.content.mime_type ?? detectedType(message.type, content) ?? defaultType[message.type]
    return { file: { stream: NodeStream.Readable.from([content]), mimeType }, failure: () => undefined }
  })

  const composeMedium = Effect.fnUntraced(function*(socket: SendingSocket, message: Medium, fileId: number | null) {
    const { url } = message.content
    const { failure, file } = yield* url === undefined ? inline(message, fileId) : downloaded(message, url)
    return yield* socket.compose(withFile(message, file)).pipe(
      Effect.catch((error) => {
        const reason = failure()
        return Effect.fail(reason === undefined ? error : new NotSendable(mediaFailed(reason.reason, reason.detail)))
      })
    )
  }, Effect.scoped)

  /** The composer of one connection, with its socket. Its caches end with it. */
  return (sessionId: WhatsAppSessionId, socket: SendingSocket) => {
    const chats = new Map<string, string>()
    const shared = new Map<string, Effect.Effect<Uint8Array, NotSendable | SocketFailed>>()

    const chatOf = Effect.fnUntraced(function*(recipient: string) {
      const known = chats.get(recipient)
      if (known !== undefined) return known
      const chat = !isGroup(recipient)
        ? yield* socket.chatOf(recipient.replace("+", ""))
        : (yield* socket.isMember(recipient))
        ? recipient
        : undefined
      if (chat === undefined) {
        return yield* new NotSendable(isGroup(recipient) ? groupUnknown : recipientNotOnWhatsApp)
      }
      const [oldest] = chats.keys()
      if (chats.size >= maxCachedChats && oldest !== undefined) chats.delete(oldest)
      chats.set(recipient, chat)
      return chat
    })

    /** Downloads and uploads the file of a batch once, not for each message. */
    const mediumOf = Effect.fnUntraced(function*(message: Medium, { batch_id, file_id }: QueuedMessage) {
      if (batch_id === null) return yield* composeMedium(socket, message, file_id)
      const known = shared.get(batch_id)
      if (known !== undefined) return withCaption(yield* known, captionOf(message))
      // The next message tries again: one failure does not fail the batch.
      const forget = Effect.sync(() => shared.delete(batch_id))
      const made = yield* Effect.cached(Effect.onError(composeMedium(socket, message, file_id), () => forget))
      const [oldest] = shared.keys()
      if (shared.size >= maxSharedFiles && oldest !== undefined) shared.delete(oldest)
      shared.set(batch_id, made)
      return yield* made
    })

    const bodyOf = Effect.fnUntraced(function*(row: QueuedMessage) {
      if (row.body !== null) return row.body
      const message = contentOfRecord(row.type, row.content)
      if (message === undefined) return yield* new NotSendable(contentGone)
      if (isMedia(message)) return yield* mediumOf(message, row)
      if (message.type !== "reaction") return yield* socket.compose(message)
      const of = yield* quoted(sessionId, message.content.message_id)
      if (of === undefined) return yield* new NotSendable(contentGone)
      return yield* socket.compose({ type: "reaction", emoji: message.content.emoji, of })
    })

    return {
      socket,
      compose: Effect.fnUntraced(function*(row: QueuedMessage) {
        const chat = yield* chatOf(row.recipient)
        return { message_id: row.message_id, chat, body: yield* bodyOf(row) }
      }),
      /** True if the session has left the group, or the group no longer exists. Its next message asks again. */
      hasLeft: Effect.fnUntraced(function*(group: string) {
        const isMember = yield* Effect.orElseSucceed(socket.isMember(group), () => true)
        if (!isMember) chats.delete(group)
        return !isMember
      })
    }
  }
})

/** A connection that can prepare messages. */
export type Connection = ReturnType<Effect.Success<typeof make>>
