import { Option } from "effect"
import { timingSafeEqual } from "node:crypto"
import { decodeBase32, encodeBase32 } from "../../../platform/crypto/base32.ts"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import { EmailMessageId } from "../../../values/Ids.ts"

// Seven bytes hold every id below 2^53. Together 20 bytes, so that base32 has no spare bits that could be changed.
const idLength = 7
const macLength = 13

const tokenLength = (idLength + macLength) / 5 * 8

/** What the address is for: `b`, reports about the message; `u`, the wish to get no more from its sender. */
export type AddressKind = "b" | "u"

/** What no address that somebody chose begins with, in any case of letters, and the token. */
const localPart = new RegExp(`^([bu])\\+([a-z2-7]{${tokenLength}})$`, "i")

const idBytes = (id: number) => Buffer.from(id.toString(16).padStart(idLength * 2, "0"), "hex")

const macOf = (key: Uint8Array, id: number) => shortMac(key, String(id), macLength)

/**
 * The name of a message in the world: its id with a MAC, so that nobody can tell of another message by counting. It
 * survives mail servers that fold the case of letters.
 */
export const verpToken = (key: Uint8Array, id: EmailMessageId): string =>
  encodeBase32(Buffer.concat([idBytes(id), macOf(key, id)]))

/** The message of a token; nothing unless every bit is as it was made. */
export const readVerpToken = (key: Uint8Array, token: string): Option.Option<EmailMessageId> => {
  const bytes = token.length === tokenLength ? decodeBase32(token) : undefined
  if (bytes === undefined) return Option.none()
  const id = Number.parseInt(Buffer.from(bytes.subarray(0, idLength)).toString("hex"), 16)
  if (!Number.isSafeInteger(id) || id < 1) return Option.none()
  return timingSafeEqual(macOf(key, id), bytes.subarray(idLength))
    ? Option.some(EmailMessageId.make(id))
    : Option.none()
}

/** The local part of an address of a message (VERP): 34 characters of the 64 that there may be. */
export const verpLocalPart = (kind: AddressKind, key: Uint8Array, id: EmailMessageId): string =>
  `${kind}+${verpToken(key, id)}`

/** The message of such a local part, whose letters may have been folded on the way. */
export const readVerpLocalPart = (kind: AddressKind, key: Uint8Array, local: string): Option.Option<EmailMessageId> => {
  const [, written, token] = localPart.exec(local) ?? []
  return token === undefined || written?.toLowerCase() !== kind ? Option.none() : readVerpToken(key, token)
}
