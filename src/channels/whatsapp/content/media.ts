import { Schema } from "effect"
import { partsOf } from "../../../values/mediaTypes.ts"

/** The types of messages that carry a file. */
export type MediaType = "image" | "video" | "audio" | "document"

/** The types of received messages that carry a file. */
const FileType = Schema.Literals(["image", "video", "audio", "document", "sticker"])

export const isFileType = Schema.is(FileType)

/** A media type without its parameters, in lower case. WhatsApp's own voice notes are `audio/ogg; codecs=opus`. */
export const bareType = (mediaType: string): string => mediaType.split(";")[0]?.trim().toLowerCase() ?? ""

/** A vector drawing, which phones do not show as an image. */
export const drawing = "image/svg+xml"

const noDrawing = `must be a bitmap, such as image/png. WhatsApp does not show ${drawing}; send it as a document`

/** Explains why a message of this type cannot carry a file of this media type; undefined if it can. */
export const mediaTypeProblem = (kind: MediaType, mediaType: string): string | undefined => {
  const { hasType, hasValidParameters } = partsOf(mediaType)
  if (!hasType || (kind !== "document" && !bareType(mediaType).startsWith(`${kind}/`))) {
    return kind === "document"
      ? "must be a media type, such as application/pdf"
      : `must be a media type that begins with ${kind}/`
  }
  if (kind === "image" && bareType(mediaType) === drawing) return noDrawing
  return hasValidParameters
    ? undefined
    : "must have its parameters as name=value after a semicolon, as in audio/ogg; codecs=opus"
}

/** The first bytes of file types that have a signature. */
const signatures: ReadonlyArray<readonly [type: string, at: number, hex: string]> = [
  ["image/png", 0, "89504e470d0a1a0a"],
  ["image/jpeg", 0, "ffd8ff"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
  ["audio/wav", 8, "57415645"],
  ["video/x-msvideo", 8, "41564920"],
  ["application/pdf", 0, "255044462d"],
  ["application/zip", 0, "504b0304"],
  ["application/gzip", 0, "1f8b08"],
  ["application/x-executable", 0, "7f454c46"],
  ["audio/mpeg", 0, "494433"],
  ["audio/amr", 0, "2321414d52"],
  ["audio/flac", 0, "664c6143"]
]

/** Types with one signature and one name: bytes with this signature have no other type. */
const exact: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"])

/** Bytes that are examined for text. */
const maxExamined = 512

/** Recognises text, and drawings, which are written as markup. */
const textType = (bytes: Uint8Array): string | undefined => {
  const text = new TextDecoder().decode(bytes.subarray(0, maxExamined))
  // The last examined bytes may be half a character.
  const broken = text.indexOf("\ufffd")
  // oxlint-disable-next-line no-control-regex -- text has no control characters
  if ((broken !== -1 && broken < text.length - 3) || /[\x00-\x08\x0e-\x1f]/.test(text)) return undefined
  return /<svg[\s>]/.test(text) ? drawing : "text/plain"
}

/** The type that the bytes clearly have. Undefined for containers, which hold sound, pictures or both. */
const plainType = (bytes: Uint8Array): string | undefined => {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("hex")
  const known = signatures.find(([, at, hex]) => start.startsWith(hex, at * 2))
  return known?.[0] ?? textType(bytes)
}

/** The media type for a file whose sender declares none, if the bytes show one that fits the message. */
export const detectedType = (kind: MediaType, bytes: Uint8Array): string | undefined => {
  const found = plainType(bytes)
  return found !== undefined && (exact.has(found) || found.startsWith(`${kind}/`)) ? found : undefined
}

/** Explains why these bytes are clearly not a file of this kind; undefined if they may be one. */
export const mediaMismatch = (
  kind: MediaType,
  bytes: Uint8Array,
  declared: string | undefined
): { readonly field: "base64" | "mime_type"; readonly message: string } | undefined => {
  const found = plainType(bytes)
  if (found === undefined) return undefined
  if (kind === "image" && found === drawing) return { field: "base64", message: noDrawing }
  if (kind !== "document" && !found.startsWith(`${kind}/`)) {
    return {
      field: "base64",
      message: `must be the bytes of ${kind === "video" ? "a" : "an"} ${kind}; they are ${found}`
    }
  }
  const name = declared === undefined ? undefined : bareType(declared)
  return name !== undefined && name !== found && exact.has(name) && exact.has(found)
    ? { field: "mime_type", message: `must be ${found}, the type of the bytes, or be left out` }
    : undefined
}
