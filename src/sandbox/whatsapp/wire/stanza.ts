import {
  getBinaryNodeChild,
  getBinaryNodeChildren,
  normalizeMessageContent,
  S_WHATSAPP_NET
} from "@whiskeysockets/baileys"
import type { BinaryNode, proto } from "@whiskeysockets/baileys"
import * as NodeCrypto from "node:crypto"

export const child = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  getBinaryNodeChild(node, tag)

export const children = (node: BinaryNode | undefined, tag: string): ReadonlyArray<BinaryNode> =>
  getBinaryNodeChildren(node, tag)

/** The content of a node as bytes; empty if it has none. */
export const bytesIn = (node: BinaryNode | undefined): Buffer =>
  typeof node?.content === "string"
    ? Buffer.from(node.content)
    : node?.content instanceof Uint8Array
    ? Buffer.from(node.content)
    : Buffer.alloc(0)

export const bytesOfChild = (node: BinaryNode | undefined, tag: string): Buffer => bytesIn(child(node, tag))

/** The big-endian number in a child; 0 if it is missing. */
export const numberOfChild = (node: BinaryNode | undefined, tag: string): number => {
  const bytes = bytesOfChild(node, tag)
  return bytes.length === 0 ? 0 : bytes.readUIntBE(0, Math.min(bytes.length, 6))
}

/** The first child of any tag. */
export const firstChild = (node: BinaryNode): BinaryNode | undefined =>
  Array.isArray(node.content) ? node.content[0] : undefined

export const node = (tag: string, attrs: BinaryNode["attrs"] = {}, content?: BinaryNode["content"]): BinaryNode =>
  content === undefined ? { tag, attrs } : { tag, attrs, content }

/** A new id for a stanza of the server. */
export const stanzaId = (): string => NodeCrypto.randomBytes(8).toString("hex")

/** The answer to a query. */
export const resultOf = (query: BinaryNode, content?: ReadonlyArray<BinaryNode>): BinaryNode =>
  node(
    "iq",
    { from: query.attrs["to"] ?? S_WHATSAPP_NET, type: "result", id: query.attrs["id"] ?? "" },
    content === undefined ? undefined : [...content]
  )

/** The refusal of a query. */
export const errorOf = (query: BinaryNode, code: number, text: string): BinaryNode =>
  node("iq", { from: query.attrs["to"] ?? S_WHATSAPP_NET, type: "error", id: query.attrs["id"] ?? "" }, [
    node("error", { code: String(code), text })
  ])

/** A number as big-endian bytes of this length. */
export const bigEndian = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}

/** The stanza type of a message. */
export const stanzaType = (content: proto.IMessage): string => {
  const message = normalizeMessageContent(content) ?? {}
  if (message.reactionMessage) return "reaction"
  if (message.pollCreationMessage || message.pollCreationMessageV3 || message.pollUpdateMessage) return "poll"
  return message.imageMessage || message.videoMessage || message.audioMessage || message.documentMessage ||
      message.stickerMessage
    ? "media"
    : "text"
}
