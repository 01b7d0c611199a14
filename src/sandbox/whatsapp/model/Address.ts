import * as NodeCrypto from "node:crypto"
import { baileys } from "../../../channels/whatsapp/wire/MessageBody.ts"

/** One device of a user: 0 is the phone, all others are companions linked to it. */
export interface Address {
  /** The phone number, digits only. */
  readonly number: string
  readonly device: number
}

/** Whether a text is a phone number: digits only, with the country code. */
export const isPhoneNumber = (text: string): boolean => /^[1-9]\d{6,14}$/.test(text)

/** A jid names its user by phone number or by LID, the number that hides it. */
export type Addressing = "pn" | "lid"

/** The key of an address in the state, and the name of a session in the control plane: `15550001:1`. */
export const keyOf = ({ device, number }: Address): string => `${number}:${device}`

/** The LID of a phone number. It is derived from the number, so that it survives a loss of the state. */
export const lidOf = (number: string): string => {
  const digest = NodeCrypto.createHash("sha256").update(`lid of ${number}`).digest()
  return String(100_000_000_000_000 + (digest.readUIntBE(0, 6) % 900_000_000_000_000))
}

export const pnJid = ({ device, number }: Address): string => baileys().jidEncode(number, "s.whatsapp.net", device)

export const lidJid = ({ device, number }: Address): string => baileys().jidEncode(lidOf(number), "lid", device)

export const jidAs = (addressing: Addressing, address: Address): string =>
  addressing === "lid" ? lidJid(address) : pnJid(address)

/** The address of the phone. */
export const userOf = (number: string): Address => ({ number, device: 0 })

export const addressingOf = (jid: string): Addressing => jid.endsWith("@lid") ? "lid" : "pn"

export const isGroupJid = (jid: string): boolean => jid.endsWith("@g.us")

/** The address in a jid; undefined for an unknown LID. */
export const addressOf = (jid: string, numberOfLid: (lid: string) => string | undefined): Address | undefined => {
  const decoded = baileys().jidDecode(jid)
  if (decoded === undefined) return undefined
  const number = decoded.server === "lid" ? numberOfLid(decoded.user) : decoded.user
  return number === undefined ? undefined : { number, device: decoded.device ?? 0 }
}
