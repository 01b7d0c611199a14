import type { BinaryNode } from "@whiskeysockets/baileys"
import { isGroupJid, jidAs, lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import { node } from "../wire/stanza.ts"

/** An encrypted message on its way from one device to another. */
export interface Envelope {
  readonly id: string
  readonly from: Address
  /** The phone number of the other side of a chat of two, or the jid of a group. */
  readonly chat: string
  readonly addressing: Addressing
  /** Seconds since 1970, as the protocol has it. */
  readonly seconds: number
  /** The stanza's type: text, media, reaction or poll. */
  readonly type: string
  readonly pushName: string
  /** Only `peer`: between the devices of one user, never shown. */
  readonly category?: string | undefined
  /** `<enc>` nodes for this one device, and what goes with them. */
  readonly content: ReadonlyArray<BinaryNode>
}

/** What one device tells another about messages. */
export interface Receipt {
  readonly ids: readonly [string, ...Array<string>]
  readonly from: Address
  /** The chat as the receiver of the receipt sees it: the number of the other side, or the jid of a group. */
  readonly chat: string
  readonly addressing: Addressing
  readonly seconds: number
  /** Absent for "delivered". */
  readonly type?: string | undefined
  readonly content?: ReadonlyArray<BinaryNode> | undefined
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
  // A copy of what another device of the same user has sent, or a word between the two.
  return from.number === to.number && envelope.category === undefined
    ? { ...sender, recipient: chatJid(chat, addressing), ...otherNames(addressing, "recipient", chat) }
    : sender
}

/** The stanza in which a companion gets an envelope. */
export const messageStanza = (envelope: Envelope, to: Address): BinaryNode =>
  node("message", {
    id: envelope.id,
    ...origin(envelope, to),
    type: envelope.type,
    t: String(envelope.seconds),
    notify: envelope.pushName,
    ...(envelope.category === undefined ? {} : { category: envelope.category })
  }, [...envelope.content])

/** The stanza in which a companion gets a receipt. */
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

/** The ids a receipt of a client names. */
export const receiptIds = (stanza: BinaryNode): readonly [string, ...Array<string>] => {
  const items = Array.isArray(stanza.content)
    ? stanza.content.filter(({ tag }) => tag === "list").flatMap((list) =>
      Array.isArray(list.content) ? list.content : []
    )
    : []
  return [stanza.attrs["id"] ?? "", ...items.map(({ attrs }) => attrs["id"] ?? "")]
}
