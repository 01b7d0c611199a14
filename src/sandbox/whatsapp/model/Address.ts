import { jidDecode, jidEncode } from "@whiskeysockets/baileys"
import * as NodeCrypto from "node:crypto"

/** One device of one user: 0 is the phone itself, others are companions that were linked to it. */
export interface Address {
  /** The phone number, digits only. */
  readonly number: string
  readonly device: number
}

/** Whether this can be a phone number: digits only, with the country's code. */
export const isPhoneNumber = (text: string): boolean => /^[1-9]\d{6,14}$/.test(text)

/** How a jid names its user: by phone number or by the hidden number, the LID. */
export type Addressing = "pn" | "lid"

/** The address as a key of shelves, and as the name of a session in the control plane: `15550001:1`. */
export const keyOf = ({ device, number }: Address): string => `${number}:${device}`

/** The hidden number of a phone number: always the same, so that a lost state changes nobody's. */
export const lidOf = (number: string): string => {
  const digest = NodeCrypto.createHash("sha256").update(`lid of ${number}`).digest()
  return String(100_000_000_000_000 + (digest.readUIntBE(0, 6) % 900_000_000_000_000))
}

export const pnJid = ({ device, number }: Address): string => jidEncode(number, "s.whatsapp.net", device)

export const lidJid = ({ device, number }: Address): string => jidEncode(lidOf(number), "lid", device)

export const jidAs = (addressing: Addressing, address: Address): string =>
  addressing === "lid" ? lidJid(address) : pnJid(address)

/** The user of an address: the address of the phone itself. */
export const userOf = (number: string): Address => ({ number, device: 0 })

/** How a jid names its user. */
export const addressingOf = (jid: string): Addressing => jid.endsWith("@lid") ? "lid" : "pn"

export const isGroupJid = (jid: string): boolean => jid.endsWith("@g.us")

/** The address that a jid means, when somebody has that number or LID. */
export const addressOf = (jid: string, numberOfLid: (lid: string) => string | undefined): Address | undefined => {
  const decoded = jidDecode(jid)
  if (decoded === undefined) return undefined
  const number = decoded.server === "lid" ? numberOfLid(decoded.user) : decoded.user
  return number === undefined ? undefined : { number, device: decoded.device ?? 0 }
}
