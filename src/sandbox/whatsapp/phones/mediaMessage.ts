import { getMediaKeys } from "@whiskeysockets/baileys"
import type { proto } from "@whiskeysockets/baileys"
import * as NodeCrypto from "node:crypto"
import type { MediaStore } from "../model/MediaStore.ts"

/** A file that a phone sends. */
export interface MediaFile {
  readonly kind: "audio" | "document" | "image" | "sticker" | "video"
  readonly bytes: Uint8Array
  readonly mimetype: string
  readonly caption?: string | undefined
  readonly fileName?: string | undefined
}

/** The common fields of media messages. */
interface MediaPart {
  readonly mediaKey?: Uint8Array | null
  readonly url?: string | null
  readonly mimetype?: string | null
}

const macLength = 10

const sha256 = (bytes: Uint8Array) => NodeCrypto.createHash("sha256").update(bytes).digest()

const sealed = async (file: MediaFile) => {
  const mediaKey = NodeCrypto.randomBytes(32)
  const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, file.kind)
  if (macKey === undefined) throw new Error("The derived keys contain no MAC key")
  const cipher = NodeCrypto.createCipheriv("aes-256-cbc", cipherKey, iv)
  const bytes = Buffer.concat([cipher.update(file.bytes), cipher.final()])
  const mac = NodeCrypto.createHmac("sha256", macKey).update(iv).update(bytes).digest().subarray(0, macLength)
  return { mediaKey, bytes: Buffer.concat([bytes, mac]) }
}

const contentOf = (file: MediaFile, part: proto.Message.IImageMessage): proto.IMessage => {
  const { caption, fileName = "file", kind } = file
  const captioned = caption === undefined ? {} : { caption }
  switch (kind) {
    case "audio":
      return { audioMessage: part }
    case "document":
      return { documentMessage: { ...part, ...captioned, fileName } }
    case "image":
      return { imageMessage: { ...part, ...captioned } }
    case "sticker":
      return { stickerMessage: part }
    case "video":
      return { videoMessage: { ...part, ...captioned } }
  }
}

/** Encrypts and stores a file, and returns its message. */
export const mediaMessage = async (file: MediaFile, store: MediaStore): Promise<proto.IMessage> => {
  const { bytes, mediaKey } = await sealed(file)
  return contentOf(file, {
    url: store.add(bytes),
    mediaKey,
    mimetype: file.mimetype,
    fileLength: file.bytes.length,
    fileSha256: sha256(file.bytes),
    fileEncSha256: sha256(bytes)
  })
}

/** The media part of a message, and the kind from which its keys are derived. */
const partOf = (message: proto.IMessage): readonly [MediaFile["kind"], MediaPart] | undefined => {
  if (message.audioMessage) return ["audio", message.audioMessage]
  if (message.documentMessage) return ["document", message.documentMessage]
  if (message.imageMessage) return ["image", message.imageMessage]
  if (message.stickerMessage) return ["sticker", message.stickerMessage]
  if (message.videoMessage) return ["video", message.videoMessage]
  return undefined
}

/** Decrypts the file of a message; undefined if the store has deleted it. Throws if its MAC is wrong. */
export const openMedia = async (message: proto.IMessage, store: MediaStore): Promise<MediaFile | undefined> => {
  const [kind, part] = partOf(message) ?? []
  const stored = store.get(part?.url ?? "")
  if (kind === undefined || part === undefined || stored === undefined) return undefined
  const { cipherKey, iv, macKey } = await getMediaKeys(part.mediaKey, kind)
  if (macKey === undefined) throw new Error("The derived keys contain no MAC key")
  const bytes = stored.subarray(0, -macLength)
  const mac = NodeCrypto.createHmac("sha256", macKey).update(iv).update(bytes).digest().subarray(0, macLength)
  if (!mac.equals(stored.subarray(-macLength))) throw new Error("The MAC of the file is wrong")
  const decipher = NodeCrypto.createDecipheriv("aes-256-cbc", cipherKey, iv)
  const opened = Buffer.concat([decipher.update(bytes), decipher.final()])
  return { kind, bytes: opened, mimetype: part.mimetype ?? "application/octet-stream" }
}
