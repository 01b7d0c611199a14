import { Option } from "effect"
import { hash, type KeyObject, timingSafeEqual } from "node:crypto"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import { EmailMessageId } from "../../../values/Ids.ts"

/** A token is valid for one purpose: a pixel's token opens no link. */
const purposes = { open: 1, click: 2 } as const

/** A message, and for a click the index of the link among the mail's targets. */
export interface Tracked {
  readonly id: EmailMessageId
  readonly link: number
}

// Purpose, id below 2^53, link. With the MAC it has 24 bytes, so base64 has no spare bits that could be changed.
const idAt = 1
const linkAt = idAt + 7
const headLength = linkAt + 2
const macLength = 14

/** Each message has its key, so a mail with many links costs one HMAC. */
const keyOf = (key: KeyObject, id: number) => shortMac(key, String(id), 32)

// Key and head have fixed lengths and the hash is truncated, which rules out length extension.
const macOf = (messageKey: Buffer, head: Buffer) =>
  hash("sha256", Buffer.concat([messageKey, head]), "buffer").subarray(0, macLength)

/** Makes the tokens of a message's pixel and links. */
export const trackingTokens = (
  key: KeyObject,
  id: EmailMessageId
): (purpose: keyof typeof purposes, link: number) => string => {
  const messageKey = keyOf(key, id)
  const idHex = id.toString(16).padStart(14, "0")
  return (purpose, link) => {
    const head = Buffer.alloc(headLength)
    head[0] = purposes[purpose]
    head.write(idHex, idAt, "hex")
    head.writeUInt16BE(link, linkAt)
    return Buffer.concat([head, macOf(messageKey, head)]).toString("base64url")
  }
}

/** Reads a token. Returns none unless every bit is unchanged and the purpose matches. */
export const readTrackingToken = (
  key: KeyObject,
  purpose: keyof typeof purposes,
  token: string
): Option.Option<Tracked> => {
  if (!/^[\w-]{32}$/.test(token)) return Option.none()
  const bytes = Buffer.from(token, "base64url")
  const head = bytes.subarray(0, headLength)
  const id = Number.parseInt(head.subarray(idAt, linkAt).toString("hex"), 16)
  const isOurs = timingSafeEqual(macOf(keyOf(key, id), head), bytes.subarray(headLength))
  if (!isOurs || head[0] !== purposes[purpose]) return Option.none()
  return Option.some({ id: EmailMessageId.make(id), link: head.readUInt16BE(linkAt) })
}
