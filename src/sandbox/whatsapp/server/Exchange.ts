import type { BinaryNode } from "@whiskeysockets/baileys"
import { addressingOf, addressOf, isGroupJid, isPhoneNumber, keyOf, userOf } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import { Faults } from "../model/Faults.ts"
import { Groups } from "../model/Groups.ts"
import { MediaStore } from "../model/MediaStore.ts"
import type { SimulatorState } from "../model/SimulatorState.ts"
import { messageStanza, receiptIds, receiptStanza } from "../phones/Envelope.ts"
import type { Envelope, Network, Receipt } from "../phones/Envelope.ts"
import type { KeyBundle } from "../phones/KeyBundle.ts"
import { Phones } from "../phones/Phones.ts"
import { child, children, node } from "../wire/stanza.ts"
import { Companions } from "./Companions.ts"
import type { Companion } from "./Companions.ts"
import { GroupActions } from "./GroupActions.ts"

const corrupted = (content: BinaryNode): BinaryNode => {
  if (content.tag !== "enc" || !(content.content instanceof Uint8Array)) return content
  const bytes = Buffer.from(content.content)
  // The last bytes are the MAC or the signature. The message before them stays well-formed.
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 0xff, bytes.length - 1)
  return { ...content, content: bytes }
}

/** The clock, and the numbers that exist. */
export interface Environment {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether a number gets a phone when a client looks it up. */
  readonly createsPhone: (number: string) => boolean
}

/** Relays messages and receipts between devices: phones in this process, and companions by their connections. */
export class Exchange implements Network {
  readonly now: () => number
  readonly phones: Phones
  readonly companions: Companions
  readonly groups: Groups
  readonly actions: GroupActions
  readonly media: MediaStore
  readonly faults = new Faults()
  readonly #createsPhone: (number: string) => boolean

  constructor(state: SimulatorState, { createsPhone, now }: Environment) {
    this.now = now
    this.#createsPhone = createsPhone
    this.companions = new Companions(state)
    this.groups = new Groups(state)
    this.media = new MediaStore(state)
    this.phones = new Phones(state, this)
    this.actions = new GroupActions(this)
  }

  /** The address of a jid; undefined if its number has no phone. */
  find(jid: string | undefined): Address | undefined {
    const address = addressOf(jid ?? "", (lid) => this.phones.numberOf(lid))
    if (address === undefined) return undefined
    const { number } = address
    const isNew = this.phones.get(number) === undefined
    if (isNew && isPhoneNumber(number) && this.#createsPhone(number)) this.phones.create(number, `+${number}`)
    return this.phones.get(number) === undefined ? undefined : address
  }

  devicesOf(number: string): ReadonlyArray<Address> {
    if (this.phones.get(number) === undefined) return []
    return [userOf(number), ...this.companions.of(number).map(({ address }) => address)]
  }

  membersOf(group: string): ReadonlyArray<string> {
    return this.groups.get(group)?.members.map(({ number }) => number) ?? []
  }

  takeBundle(address: Address): KeyBundle | undefined {
    return address.device === 0 ? this.phones.get(address.number)?.bundle() : this.companions.takeBundle(address)
  }

  failsToDecrypt({ from }: Envelope): boolean {
    return from.device !== 0 && this.faults.take(from.number, "ask-retry") !== undefined
  }

  deliver(envelope: Envelope, to: Address, refusalsExpected = 0): void {
    if (to.device === 0) {
      void this.phones.get(to.number)?.receive(envelope)
      return
    }
    const hasFault = (kind: "absent" | "corrupt") =>
      envelope.category === undefined && this.faults.take(to.number, kind) !== undefined
    const content = hasFault("absent")
      ? [node("unavailable")]
      : hasFault("corrupt")
      ? envelope.content.map(corrupted)
      : envelope.content
    this.companions.deliver(to, messageStanza({ ...envelope, content }, to), refusalsExpected)
  }

  report(receipt: Receipt, to: Address): void {
    if (to.device === 0) void this.phones.get(to.number)?.receiveReceipt(receipt)
    else this.companions.deliver(to, receiptStanza(receipt, to))
  }

  /** Relays a message of a companion to every device that it is encrypted for. */
  relay(sender: Companion, message: BinaryNode): void {
    const to = message.attrs["to"] ?? ""
    const participants = children(child(message, "participants"), "to")
    const own = children(message, "enc")
    const identity = child(message, "device-identity")
    const envelope = {
      id: message.attrs["id"] ?? "",
      from: sender.address,
      chat: isGroupJid(to) ? to : this.find(message.attrs["recipient"] ?? to)?.number ?? "",
      addressing: isGroupJid(to) ? "lid" as const : addressingOf(to),
      seconds: Math.floor(this.now() / 1000),
      type: message.attrs["type"] ?? "text",
      pushName: this.phones.get(sender.address.number)?.record.pushName ?? "",
      category: message.attrs["category"]
    }
    const contents = new Map<string, Array<BinaryNode>>()
    for (const participant of participants) {
      const address = this.find(participant.attrs["jid"])
      if (address !== undefined) contents.set(keyOf(address), [...children(participant, "enc")])
    }
    for (const address of this.#recipients(sender.address, message, own.length > 0)) {
      const content = [...contents.get(keyOf(address)) ?? [], ...own]
      if (content.length === 0) continue
      this.deliver({ ...envelope, content: identity === undefined ? content : [...content, identity] }, address)
    }
  }

  /** Relays a receipt of a companion to the devices that may have sent the message. */
  relayReceipt(sender: Companion, receipt: BinaryNode): void {
    const { attrs } = receipt
    const to = attrs["to"] ?? ""
    const target = this.find(attrs["participant"] ?? to)
    const type = attrs["type"]
    // These are for the server, or for other devices of the same user.
    if (target === undefined || type === "hist_sync" || type === "peer_msg" || type === "sender") return
    if (type === "read-self") return
    const relayed: Receipt = {
      ids: receiptIds(receipt),
      from: sender.address,
      chat: isGroupJid(to) ? to : sender.address.number,
      addressing: isGroupJid(to) ? "lid" : addressingOf(to),
      seconds: Math.floor(this.now() / 1000),
      type: type === "inactive" ? undefined : type,
      content: Array.isArray(receipt.content) ? receipt.content.filter(({ tag }) => tag !== "list") : undefined
    }
    for (const device of this.#authors(target, relayed)) this.report(relayed, device)
  }

  /** A receipt may name only the user. It then goes to the phone and to the companion that wrote the message. */
  #authors(target: Address, { ids: [id], type }: Receipt): ReadonlyArray<Address> {
    if (target.device !== 0 || type === "retry") return [target]
    const device = this.phones.get(target.number)?.chats.get(id)?.fromDevice ?? 0
    return device === 0 ? [target] : [target, { number: target.number, device }]
  }

  #recipients(sender: Address, message: BinaryNode, isShared: boolean): ReadonlyArray<Address> {
    const to = message.attrs["to"] ?? ""
    const listed = children(child(message, "participants"), "to").map(({ attrs }) => this.find(attrs["jid"]))
    const named = message.attrs["participant"]
    const addresses = !isShared
      ? listed
      : isGroupJid(to) && named === undefined
      ? this.membersOf(to).flatMap((number) => this.devicesOf(number))
      : [this.find(named ?? to)]
    return addresses.flatMap((address) => address === undefined || keyOf(address) === keyOf(sender) ? [] : [address])
  }
}

/** The acknowledgement of a stanza of a client. */
export const ackOf = (stanza: BinaryNode, seconds: number, error?: number): BinaryNode => {
  const { id = "", participant, to = "", type } = stanza.attrs
  return node("ack", {
    class: stanza.tag,
    id,
    from: to,
    t: String(seconds),
    ...(type === undefined || stanza.tag === "message" ? {} : { type }),
    ...(participant === undefined ? {} : { participant }),
    ...(error === undefined ? {} : { error: String(error) })
  })
}
