import { getMediaKeys } from "@whiskeysockets/baileys"
import { Effect, Schema } from "effect"
import { createDecipheriv, createHmac, timingSafeEqual } from "node:crypto"
import type { MediaPart } from "./inboundMessage.ts"

/** What came is not the file that the message is about. */
class MediaBroken extends Schema.TaggedError<MediaBroken>()("MediaBroken", {}) {
  override get message() {
    return "The file does not fit its message."
  }
}

const macLength = 10

const decrypted = (
  bytes: Uint8Array,
  { cipherKey, iv, macKey }: {
    readonly cipherKey: Uint8Array
    readonly iv: Uint8Array
    readonly macKey: Uint8Array
  }
) => {
  const body = bytes.subarray(0, -macLength)
  const mac = createHmac("sha256", macKey).update(iv).update(body).digest().subarray(0, macLength)
  if (bytes.length <= macLength || !timingSafeEqual(mac, bytes.subarray(-macLength))) throw new MediaBroken()
  const cipher = createDecipheriv("aes-256-cbc", cipherKey, iv)
  return Buffer.concat([cipher.update(body), cipher.final()])
}

/** Decrypts a file as it lies at WhatsApp; fails where a byte of it was changed. */
export const openMedia = ({ kind, mediaKey }: MediaPart, bytes: Uint8Array) =>
  Effect.tryPromise({
    try: () =>
      getMediaKeys(mediaKey, kind).then(({ cipherKey, iv, macKey }) =>
        decrypted(bytes, { cipherKey, iv, macKey: macKey ?? new Uint8Array() })
      ),
    catch: () => new MediaBroken()
  })
