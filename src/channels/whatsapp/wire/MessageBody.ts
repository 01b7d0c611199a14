import "../../../platform/observability/muteLibsignal.ts"
import type * as Library from "@whiskeysockets/baileys"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

/**
 * The library, loaded at its first use: it takes 40 MB and a quarter of a second. Files that only a connection needs import
 * it themselves.
 */
export const baileys = (): typeof Library => require("@whiskeysockets/baileys")

/** Decodes a serialised message and applies `fillIn` to its text. */
export const decodeBody = (body: Uint8Array, fillIn?: (text: string) => string): Library.proto.Message => {
  const message = baileys().proto.Message.decode(body)
  if (fillIn === undefined) return message
  const text = message.extendedTextMessage
  if (text?.text) text.text = fillIn(text.text)
  if (message.conversation) message.conversation = fillIn(message.conversation)
  return message
}

/** Replaces the caption of a serialised medium. The uploaded file stays the same. */
export const withCaption = (body: Uint8Array, caption = ""): Uint8Array => {
  const { proto } = baileys()
  const message = proto.Message.decode(body)
  const medium = message.imageMessage ?? message.videoMessage ?? message.documentMessage
  if (medium && caption === "") delete medium.caption
  else if (medium) medium.caption = caption
  return proto.Message.encode(message).finish()
}
