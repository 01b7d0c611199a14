import type { BinaryNode } from "@whiskeysockets/baileys"
import { isGroupJid, jidAs, lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import { node } from "../wire/stanza.ts"
import type { KeyBundle } from "./KeyBundle.ts"

/** An encrypted message from one device to another. */
export interface Envelope {
  readonly id: string
  readonly from: Address
  /** The number of the other phone, or the jid of a group. */
  readonly chat: string
  readonly addressing: Addressing
  /** Seconds since 1970, the unit of the protocol. */
  readonly seconds: number
  /** The stanza's type: text, media, reaction or poll. */
  readonly type: string
  readonly pushName: string
  /** `peer` for messages between the devices of one user, which no chat shows. */
  readonly category?: string | undefined
  /** `<enc>` nodes for one device, and the nodes that accompany them. */
  readonly content: ReadonlyArray<BinaryNode>
}

/** A receipt of one device for messages of another. */
export interface Receipt {
  readonly ids: readonly [string, ...Array<string>]
  readonly from: Address
  /** The chat from the view of the receiver of the receipt: the number of the other phone, or the jid of a group. */
  readonly chat: string
  readonly addressing: Addressing
  readonly seconds: number
  /** Absent for "delivered". */
  readonly type?: string | undefined
  readonly content?: ReadonlyArray<BinaryNode> | undefined
}

/** The server, as a virtual phone uses it. */
export interface Network {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly deliver: (envelope: Envelope, to: Address, refusalsExpected?: number) => void
  readonly report: (receipt: Receipt, to: Address) => void
  /** A key bundle of any device. It uses up one pre-key. */
  readonly takeBundle: (address: Address) => KeyBundle | undefined
  /** The phone of a number first, then its companions. */
  readonly devicesOf: (number: string) => ReadonlyArray<Address>
  /** The numbers of a group's members. */
  readonly membersOf: (group: string) => ReadonlyArray<string>
  /** Whether a fault makes the phone fail to decrypt this message. */
  readonly failsToDecrypt: (envelope: Envelope) => boolean
}

/** The jid of a chat. */
export const chatJid = (chat: string, addressing: Addressing): string =>
  isGroupJid(chat) ? chat : jidAs(addressing, userOf(chat))

const otherNames = (addressing: Addressing, prefix: string, number: string): BinaryNode["attrs"] =>
  addressing === "pn"
    ? { [`${prefix}_lid`]: lidJid(userOf(number)) }
    : { [`${prefix}_pn`]: pnJid(userOf(number)) }

const origin = (envelope: Envelope, to: Address): BinaryNode["attrs"] => {
  const { addressing, chat, from } = envelope
  if (isGroupJid(chat)) {
    return { from: chat, participant: lidJid(from), participant_pn: pnJid(userOf(from.number)), addressing_mode: "lid" }
  }
  const sender = { from: jidAs(addressing, from), ...otherNames(addressing, "sender", from.number) }
  // A copy of a message that another device of the same user sent, or a message between the two.
  return from.number === to.number && envelope.category === undefined
    ? { ...sender, recipient: chatJid(chat, addressing), ...otherNames(addressing, "recipient", chat) }
    : sender
}

/** The stanza that carries an envelope to a companion. */
export const messageStanza = (envelope: Envelope, to: Address): BinaryNode =>
  node("message", {
    id: envelope.id,
    ...origin(envelope, to),
    type: envelope.type,
    t: String(envelope.seconds),
    notify: envelope.pushName,
    ...(envelope.category === undefined ? {} : { category: envelope.category })
  }, [...envelope.content])

/** The stanza that carries a receipt to a companion. */
export const receiptStanza = (receipt: Receipt, to: Address): BinaryNode => {
  const { addressing, chat, from, ids: [id, ...more] } = receipt
  const origin = isGroupJid(chat)
    ? { from: chat, participant: lidJid(from) }
    : from.number === to.number
    ? { from: jidAs(addressing, from), recipient: chatJid(chat, addressing) }
    : { from: jidAs(addressing, from) }
  const list = more.length === 0 ? [] : [node("list", {}, more.map((item) => node("item", { id: item })))]
  const content = [...list, ...(receipt.content ?? [])]
  return node(
    "receipt",
    { id, ...origin, t: String(receipt.seconds), ...(receipt.type === undefined ? {} : { type: receipt.type }) },
    content.length === 0 ? undefined : content
  )
}

/** The message ids in a receipt of a client. */
export const receiptIds = (stanza: BinaryNode): readonly [string, ...Array<string>] => {
  const items = Array.isArray(stanza.content)
    ? stanza.content.filter(({ tag }) => tag === "list").flatMap((list) =>
      Array.isArray(list.content) ? list.content : []
    )
    : []
  return [stanza.attrs["id"] ?? "", ...items.map(({ attrs }) => attrs["id"] ?? "")]
}
