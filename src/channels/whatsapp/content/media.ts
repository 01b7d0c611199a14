import { bareType, drawing, noDrawing } from "./mediaType.ts"
import type { MediaType } from "./MessageContent.ts"

/** What a file begins with, where its type says so. */
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

/** These say exactly one type, and by one name: another one that is declared is wrong. */
const exact: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"])

const beginning = 512

/** The type of words and markup, which drawings are written in. */
const textType = (bytes: Uint8Array): string | undefined => {
  const text = new TextDecoder().decode(bytes.subarray(0, beginning))
  // The end of what is looked at may be half a character.
  const broken = text.indexOf("\ufffd")
  // oxlint-disable-next-line no-control-regex -- these are what text does not have
  if ((broken !== -1 && broken < text.length - 3) || /[\x00-\x08\x0e-\x1f]/.test(text)) return undefined
  return /<svg[\s>]/.test(text) ? drawing : "text/plain"
}

/** The type that bytes plainly have, undefined where nothing is plain: containers hold sound or pictures or both. */
const plainType = (bytes: Uint8Array): string | undefined => {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("hex")
  const known = signatures.find(([, at, hex]) => start.startsWith(hex, at * 2))
  return known?.[0] ?? textType(bytes)
}

/** What a file is called whose sender does not say: its type, where the bytes tell it and programs know it by that. */
export const ownType = (kind: MediaType, bytes: Uint8Array): string | undefined => {
  const found = plainType(bytes)
  return found !== undefined && (exact.has(found) || found.startsWith(`${kind}/`)) ? found : undefined
}

/** Why these bytes are not a file of this kind, as far as that is plain; undefined where they may be. */
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
    ? { field: "mime_type", message: `must be what the bytes are, ${found}, or be left out` }
    : undefined
}
