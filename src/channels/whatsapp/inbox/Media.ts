import { Context, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { createDecipheriv, createHmac, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { Database } from "../../../platform/database/Database.ts"
import { NotFound, ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { type DownloadFailed, PublicDownload } from "../../../platform/net/PublicDownload.ts"
import type { AccountId, MessageId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import { isFileType } from "../content/media.ts"
import { dataKeyPlace } from "../credentials/DataKey.ts"
import { baileys } from "../wire/MessageBody.ts"
import { type MediaPart, mediaPart } from "./inboundMessage.ts"
import { inboxPlace, openPayload } from "./InboxItem.ts"
import { InboxRepo } from "./InboxRepo.ts"
import { MediaGone } from "./MediaApi.ts"
import { mediaLocation } from "./mediaLocation.ts"
import { MediaRoom } from "./MediaRoom.ts"

/** The file of a received message. */
export interface MediaFile {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

const aMediaType = /^[a-z0-9][\w!#$&^.+-]{0,63}\/[a-z0-9][\w!#$&^.+-]{0,63}$/i

const typeOf = ({ mimeType }: MediaPart) => {
  const bare = mimeType.split(";")[0]?.trim() ?? ""
  return aMediaType.test(bare) ? bare : "application/octet-stream"
}

/** The downloaded bytes do not match their message. */
class MediaCorrupt extends Schema.TaggedError<MediaCorrupt>()("MediaCorrupt", {}) {
  override get message() {
    return "The file does not match its message."
  }
}

const macLength = 10

const decrypt = (
  bytes: Uint8Array,
  { cipherKey, iv, macKey }: {
    readonly cipherKey: Uint8Array
    readonly iv: Uint8Array
    readonly macKey: Uint8Array
  }
) => {
  const body = bytes.subarray(0, -macLength)
  const mac = createHmac("sha256", macKey).update(iv).update(body).digest().subarray(0, macLength)
  if (bytes.length <= macLength || !timingSafeEqual(mac, bytes.subarray(-macLength))) throw new MediaCorrupt()
  const cipher = createDecipheriv("aes-256-cbc", cipherKey, iv)
  return Buffer.concat([cipher.update(body), cipher.final()])
}

/** Decrypts a downloaded file. It fails if a single byte was changed. */
const openMedia = ({ kind, mediaKey }: MediaPart, bytes: Uint8Array) =>
  Effect.tryPromise({
    try: () =>
      baileys().getMediaKeys(mediaKey, kind).then(({ cipherKey, iv, macKey }) =>
        decrypt(bytes, { cipherKey, iv, macKey: macKey ?? new Uint8Array() })
      ),
    catch: () => new MediaCorrupt()
  })

/** Downloads a file. The caller's scope holds its memory, because the decrypted bytes need as much. */
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

/** Downloads from the simulated WhatsApp on this machine, which has the files of test sessions. */
export class SimulatedFiles extends Context.Service<SimulatedFiles, PublicDownload["Service"]>()(
  "messaging-service/channels/whatsapp/inbox/Media/SimulatedFiles"
) {}

/** The files of received messages. They stay at WhatsApp until a caller requests them. */
export class Media extends Context.Service<Media, {
  /** Downloads and decrypts a file. The scope holds the memory of its bytes. */
  readonly fetch: (
    accountId: AccountId,
    id: MessageId
  ) => Effect.Effect<MediaFile, NotFound | MediaGone | ServiceUnavailable, Scope.Scope>
  /** Which of these messages have a file that the keys of their session open. WhatsApp may have deleted it. */
  readonly kept: (accountId: AccountId, ids: ReadonlyArray<MessageId>) => Effect.Effect<ReadonlySet<MessageId>>
}>()("messaging-service/channels/whatsapp/inbox/Media") {
  static readonly layer = Layer.effect(
    Media,
    Effect.gen(function*() {
      const vault = yield* Vault
      const live = yield* PublicDownload
      const simulated = yield* SimulatedFiles
      const room = yield* MediaRoom
      const { whatsappUrl } = yield* AppConfig
      const { waitWithoutConnection } = yield* Database
      const repo = yield* InboxRepo

      /** The location and key of the file; undefined if its payload cannot be opened any more. */
      const partOf = Effect.fnUntraced(function*(accountId: AccountId, id: MessageId) {
        const row = Option.getOrUndefined(yield* repo.stored({ accountId, id }))
        if (row === undefined) return yield* new NotFound()
        const { chat, data_key, payload, session_id, type, whatsapp_id } = row
        if (!isFileType(type)) return yield* new NotFound()
        if (session_id === null || chat === null || whatsapp_id === null || payload === null || data_key === null) {
          return yield* new MediaGone()
        }
        const dataKey = yield* Effect.orDie(vault.open(dataKeyPlace(session_id), data_key))
        const opened = openPayload(dataKey, inboxPlace(session_id, chat, whatsapp_id), payload)
        const body = Option.getOrUndefined(opened)?.body
        return body === undefined ? undefined : mediaPart(body)
      })

      return Media.of({
        fetch: Effect.fn("Media.fetch")(function*(accountId, id) {
          const part = yield* partOf(accountId, id)
          const isLive = whatsappUrl === "live" && !isTest(accountId)
          const download = isTest(accountId) ? simulated : live
          const url = part === undefined ? undefined : mediaLocation(part, isLive)
          if (part === undefined || url === undefined) return yield* new MediaGone()
          const sealed = yield* waitWithoutConnection(bytesOf({ accountId, download, room, url })).pipe(
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
        }),
        kept: Effect.fn("Media.kept")(function*(accountId, ids) {
          const rows = ids.length === 0 ? [] : yield* repo.kept({ accountId, ids })
          return new Set(rows.map(({ message_id }) => message_id))
        })
      })
    })
  ).pipe(Layer.provide(InboxRepo.layer))
}
