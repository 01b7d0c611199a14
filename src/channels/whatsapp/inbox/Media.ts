import { Context, Effect, Layer, Option, type Scope, Stream } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { NotFound, ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { type DownloadFailed, PublicDownload } from "../../../platform/net/PublicDownload.ts"
import type { AccountId, MessageId } from "../../../values/Ids.ts"
import { sealedDataKey } from "../credentials/DataKey.ts"
import { MediaGone } from "../directory/DirectoryErrors.ts"
import { type MediaPart, mediaPart } from "./inboundMessage.ts"
import { inboxPlace, openPayload } from "./inboxPayload.ts"
import { makeInboxRepo } from "./InboxRepo.ts"
import { mediaLocation } from "./mediaLocation.ts"
import { MediaRoom } from "./MediaRoom.ts"
import { openMedia } from "./openMedia.ts"

/** A file that came with a message. */
export interface MediaFile {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

const aMediaType = /^[a-z0-9][\w!#$&^.+-]{0,63}\/[a-z0-9][\w!#$&^.+-]{0,63}$/i

const typeOf = ({ mimeType }: MediaPart) => {
  const bare = mimeType.split(";")[0]?.trim() ?? ""
  return aMediaType.test(bare) ? bare : "application/octet-stream"
}

/** The room that it takes is the caller's scope's, as what is made of the bytes takes as much. */
const bytesOf = Effect.fnUntraced(function*({ accountId, download, room, url }: {
  readonly accountId: AccountId
  readonly download: PublicDownload["Service"]
  readonly room: MediaRoom["Service"]
  readonly url: string
}) {
  const file = yield* download.open(url)
  yield* room.take(accountId, file.size)
  const chunks = yield* Stream.runCollect(
    Stream.fromAsyncIterable<Uint8Array, DownloadFailed | ServiceUnavailable>(
      file.stream,
      () => file.failure() ?? new ServiceUnavailable()
    )
  )
  return Buffer.concat([...chunks])
})

/** The files of messages that came in. They lie at WhatsApp, and are fetched when somebody asks for them. */
export class Media extends Context.Service<Media, {
  /** Its bytes have their room in memory until the scope ends. */
  readonly fetch: (
    accountId: AccountId,
    id: MessageId
  ) => Effect.Effect<MediaFile, NotFound | MediaGone | ServiceUnavailable, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/Media") {
  static readonly layer = Layer.effect(
    Media,
    Effect.gen(function*() {
      const vault = yield* Vault
      const download = yield* PublicDownload
      const room = yield* MediaRoom
      const { whatsappUrl } = yield* AppConfig
      const repo = yield* makeInboxRepo

      /** Where the file lies and what opens it; undefined when nothing is kept of it. */
      const partOf = Effect.fnUntraced(function*(accountId: AccountId, id: MessageId) {
        const row = Option.getOrUndefined(yield* Effect.orDie(repo.stored({ accountId, id })))
        if (row === undefined) return yield* new NotFound()
        const { chat, data_key, payload, session_id, type, whatsapp_id } = row
        if (!files.has(type)) return yield* new NotFound()
        if (session_id === null || chat === null || whatsapp_id === null || payload === null || data_key === null) {
          return yield* new MediaGone()
        }
        const dataKey = yield* Effect.orDie(vault.open(sealedDataKey(session_id), data_key))
        const opened = openPayload(dataKey, inboxPlace(session_id, chat, whatsapp_id), payload)
        const body = Option.getOrUndefined(opened)?.body
        return body === undefined ? undefined : mediaPart(body)
      })

      return Media.of({
        fetch: Effect.fn("Media.fetch")(function*(accountId, id) {
          const part = yield* partOf(accountId, id)
          const url = part === undefined ? undefined : mediaLocation(part, whatsappUrl === "live")
          if (part === undefined || url === undefined) return yield* new MediaGone()
          const sealed = yield* bytesOf({ accountId, download, room, url }).pipe(
            Effect.catchTag(
              "DownloadFailed",
              ({ reason, status = 404 }): Effect.Effect<never, MediaGone | ServiceUnavailable> =>
                reason === "too_large" || (reason === "http_status" && status < 500)
                  ? new MediaGone()
                  : new ServiceUnavailable()
            )
          )
          const bytes = yield* Effect.mapError(openMedia(part, sealed), () => new MediaGone())
          return { bytes, mimeType: typeOf(part) }
        })
      })
    })
  )
}

/** The types of messages that have a file. */
const files: ReadonlySet<string> = new Set(["image", "video", "audio", "document", "sticker"])
