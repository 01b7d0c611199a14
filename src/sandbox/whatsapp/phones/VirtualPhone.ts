import { encodeWAMessage, generateMessageIDV2, proto, unpadRandomMax16 } from "@whiskeysockets/baileys"
import type { BinaryNode } from "@whiskeysockets/baileys"
import { isGroupJid, keyOf, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import type { Shelf } from "../model/SimulatorState.ts"
import { bigEndian, child, node, stanzaType } from "../wire/stanza.ts"
import { Chats } from "./Chats.ts"
import type { ChatMessage } from "./Chats.ts"
import { chatJid } from "./Envelope.ts"
import type { Envelope, Network, Receipt } from "./Envelope.ts"
import { bundleNodes, readRetryKeys } from "./KeyBundle.ts"
import type { KeyBundle } from "./KeyBundle.ts"
import { resendAnswer } from "./peerMessages.ts"
import { PhoneSignal } from "./PhoneSignal.ts"
import type { Ciphertext, PhoneKeys } from "./PhoneSignal.ts"

/** The stored part of a phone. */
export interface PhoneRecord {
  readonly number: string
  pushName: string
  readonly keys: PhoneKeys
  /** The device number of the next companion. */
  nextDevice: number
  receipts: PhoneReceipts
}

/** The receipts that a phone sends when a message arrives. */
export interface PhoneReceipts {
  readonly delivered: boolean
  readonly read: boolean
}

/** The shelves that all phones share. */
export interface PhoneShelves {
  readonly signal: Shelf<unknown>
  readonly messages: Shelf<ChatMessage>
  /** The devices that have a phone's sender key of a group, by `number/group`. */
  readonly senderKeys: Shelf<ReadonlyArray<string>>
}

/** Counters for tests. */
export interface PhoneCounters {
  decryptFailures: number
  /** Resends that this phone requested. */
  retriesAsked: number
  /** Resends that other devices requested of this phone. */
  retriesAnswered: number
  /** Arrivals that the phone could not process, such as invalid keys. */
  failures: number
}

/** Options of a sent message. */
export interface Sending {
  readonly id?: string | undefined
  readonly addressing?: Addressing | undefined
}

const maxRetries = 5

const encNode = ({ bytes, type }: Ciphertext, attrs: BinaryNode["attrs"] = {}): BinaryNode =>
  node("enc", { v: "2", type, ...attrs }, Buffer.from(bytes))

/**
 * A simulated phone. It opens real Signal sessions, decrypts messages, stores chats and sends receipts. It requests a
 * resend of messages that it cannot decrypt, and answers such requests. One operation runs at a time.
 */
export class VirtualPhone {
  readonly record: PhoneRecord
  readonly chats: Chats
  readonly counters: PhoneCounters = { decryptFailures: 0, retriesAsked: 0, retriesAnswered: 0, failures: 0 }
  readonly #signal: PhoneSignal
  readonly #senderKeys: Shelf<ReadonlyArray<string>>
  readonly #network: Network
  readonly #retries = new Map<string, number>()
  #work: Promise<unknown> = Promise.resolve()

  constructor(record: PhoneRecord, shelves: PhoneShelves, network: Network) {
    this.record = record
    this.#signal = new PhoneSignal(record.number, record.keys, shelves.signal)
    this.chats = new Chats(record.number, shelves.messages)
    this.#senderKeys = shelves.senderKeys
    this.#network = network
  }

  get number(): string {
    return this.record.number
  }

  get address(): Address {
    return userOf(this.number)
  }

  /** A key bundle that opens a Signal session with this phone. */
  bundle(): KeyBundle {
    return this.#signal.bundle()
  }

  close(): void {
    this.#signal.close()
  }

  /** Sends a message to a number or a group. Resolves to its id after the server has received it. */
  send(chat: string, content: proto.IMessage, sending: Sending = {}): Promise<string> {
    return this.#exclusively(async () => {
      const id = sending.id ?? generateMessageIDV2(pnJid(this.address))
      const addressing = isGroupJid(chat) ? "lid" : sending.addressing ?? "pn"
      const message = this.chats.add(
        { id, chat, from: this.number, fromDevice: 0, at: this.#network.now(), addressing, status: "sent" },
        content
      )
      await (isGroupJid(chat) ? this.#sendToGroup(message) : this.#sendToUser(message))
      return id
    })
  }

  /** Sends a message that no chat shows to a companion of the same user. */
  sendToCompanion(to: Address, content: proto.IMessage): Promise<void> {
    return this.#exclusively(async () => {
      const enc = encNode(await this.#encrypt(to, content))
      const id = generateMessageIDV2(pnJid(this.address))
      this.#network.deliver(this.#envelope({ id, chat: this.number, addressing: "pn" }, "peer", [enc]), to)
    })
  }

  /** Processes an envelope. */
  receive(envelope: Envelope): Promise<void> {
    return this.#inBackground(async () => {
      const content = await this.#decrypt(envelope).catch(() => undefined)
      if (content === undefined) {
        this.counters.decryptFailures += 1
        this.#requestResend(envelope)
        return
      }
      this.#retries.delete(envelope.id)
      await this.#store(envelope, content)
    })
  }

  /** Processes a receipt of another device for messages of this phone. */
  receiveReceipt(receipt: Receipt): Promise<void> {
    return this.#inBackground(async () => {
      if (receipt.type === "retry") return this.#resend(receipt)
      if (receipt.from.number === this.number) return
      const status = receipt.type === "read" || receipt.type === "played" ? "read" : "delivered"
      for (const id of receipt.ids) this.chats.advance(id, status)
    })
  }

  /** Sends the author of a message a receipt. */
  report(message: ChatMessage, type: "delivered" | "read", to: Address): void {
    this.#network.report({
      ids: [message.id],
      from: this.address,
      chat: isGroupJid(message.chat) ? message.chat : this.number,
      addressing: message.addressing,
      seconds: Math.floor(this.#network.now() / 1000),
      type: type === "delivered" ? undefined : type
    }, to)
  }

  #exclusively<A>(job: () => Promise<A>): Promise<A> {
    const result = this.#work.then(job)
    this.#work = result.catch(() => undefined)
    return result
  }

  /** Counts a failure instead of rejecting: clients may send anything, and no caller awaits the result. */
  #inBackground(job: () => Promise<void>): Promise<void> {
    return this.#exclusively(job).catch(() => {
      this.counters.failures += 1
    })
  }

  #envelope(
    message: Pick<ChatMessage, "addressing" | "chat" | "id">,
    type: string,
    content: ReadonlyArray<BinaryNode>
  ): Envelope {
    return {
      id: message.id,
      from: this.address,
      chat: message.chat,
      addressing: message.addressing,
      seconds: Math.floor(this.#network.now() / 1000),
      type: type === "peer" ? "text" : type,
      pushName: this.record.pushName,
      category: type === "peer" ? type : undefined,
      content
    }
  }

  /** Opens a session first if there is none, or if the caller passes a fresh bundle. */
  async #encrypt(to: Address, content: proto.IMessage, fresh?: KeyBundle): Promise<Ciphertext> {
    if (fresh !== undefined || !(await this.#signal.hasSession(to))) {
      const bundle = fresh ?? this.#network.takeBundle(to)
      if (bundle === undefined) throw new Error(`${keyOf(to)} has no key bundle`)
      await this.#signal.openSession(to, bundle)
    }
    return this.#signal.encrypt(to, encodeWAMessage(content))
  }

  /** Devices of the same user get the recipient of a message as well. */
  #contentFor(to: Address, { addressing, chat }: ChatMessage, content: proto.IMessage): proto.IMessage {
    return to.number !== this.number || isGroupJid(chat)
      ? content
      : { deviceSentMessage: { destinationJid: chatJid(chat, addressing), message: content } }
  }

  #targets(numbers: ReadonlyArray<string>): ReadonlyArray<Address> {
    return [...new Set([...numbers, this.number])]
      .flatMap((number) => this.#network.devicesOf(number))
      .filter((address) => keyOf(address) !== keyOf(this.address))
  }

  async #sendToUser(message: ChatMessage): Promise<void> {
    const content = proto.Message.decode(message.content)
    for (const to of this.#targets([message.chat])) {
      const enc = encNode(await this.#encrypt(to, this.#contentFor(to, message, content)))
      this.#network.deliver(this.#envelope(message, stanzaType(content), [enc]), to)
    }
  }

  async #sendToGroup(message: ChatMessage): Promise<void> {
    const content = proto.Message.decode(message.content)
    const { ciphertext, senderKeyDistributionMessage } = await this.#signal.encryptForGroup(
      message.chat,
      encodeWAMessage(content)
    )
    const shared = encNode({ type: "skmsg", bytes: ciphertext })
    const key = { groupId: message.chat, axolotlSenderKeyDistributionMessage: senderKeyDistributionMessage }
    const entry = `${this.number}/${message.chat}`
    const holders = new Set(this.#senderKeys.get(entry))
    for (const to of this.#targets(this.#network.membersOf(message.chat))) {
      const enc = holders.has(keyOf(to))
        ? [shared]
        : [encNode(await this.#encrypt(to, { senderKeyDistributionMessage: key })), shared]
      holders.add(keyOf(to))
      this.#network.deliver(this.#envelope(message, stanzaType(content), enc), to)
    }
    this.#senderKeys.set(entry, [...holders])
  }

  /** Decrypts an envelope and stores the sender keys in it. */
  async #decrypt(envelope: Envelope): Promise<proto.IMessage> {
    if (this.#network.failsToDecrypt(envelope)) throw new Error("A fault makes this message unreadable")
    let content: proto.IMessage = {}
    for (const { attrs, content: bytes, tag } of envelope.content) {
      if (tag !== "enc" || !(bytes instanceof Uint8Array)) continue
      const cipher = { type: attrs["type"] ?? "", bytes }
      const plain = await this.#signal.decrypt(envelope.from, cipher, envelope.chat)
      const message = proto.Message.decode(unpadRandomMax16(plain))
      const key = message.senderKeyDistributionMessage?.axolotlSenderKeyDistributionMessage
      if (key) await this.#signal.addSenderKey(envelope.from, envelope.chat, key)
      content = { ...content, ...(message.deviceSentMessage?.message ?? message) }
    }
    return content
  }

  async #store(envelope: Envelope, { senderKeyDistributionMessage: _, ...content }: proto.IMessage): Promise<void> {
    if (envelope.category === "peer") return this.#answerPeer(envelope, content)
    if (Object.keys(content).length === 0) return
    const { addressing, chat, from, id } = envelope
    const isOwn = from.number === this.number
    const known = this.chats.get(id)
    if (known !== undefined) this.chats.arrivedAgain(known)
    const message = known ?? this.chats.add({
      id,
      chat: isOwn || isGroupJid(chat) ? chat : from.number,
      from: from.number,
      fromDevice: from.device,
      at: this.#network.now(),
      addressing,
      status: isOwn ? "sent" : "received"
    }, content)
    if (isOwn) return
    if (this.record.receipts.delivered) this.report(message, "delivered", from)
    if (this.record.receipts.read) this.report(message, "read", from)
  }

  /** Not awaited: sending queues behind the current operation. */
  #answerPeer({ from, id }: Envelope, content: proto.IMessage): void {
    const answer = resendAnswer(content, id, this.chats)
    if (answer !== undefined) void this.sendToCompanion(from, answer).catch(() => undefined)
  }

  #requestResend(envelope: Envelope): void {
    const count = (this.#retries.get(envelope.id) ?? 0) + 1
    if (count > maxRetries) return
    this.#retries.set(envelope.id, count)
    this.counters.retriesAsked += 1
    const seconds = Math.floor(this.#network.now() / 1000)
    const bundle = bundleNodes(this.bundle())
    this.#network.report({
      ids: [envelope.id],
      from: this.address,
      chat: isGroupJid(envelope.chat) || envelope.from.number === this.number ? envelope.chat : this.number,
      addressing: envelope.addressing,
      seconds,
      type: "retry",
      content: [
        node("retry", { count: String(count), id: envelope.id, t: String(envelope.seconds), v: "1" }),
        node("registration", {}, bigEndian(this.record.keys.registrationId, 4)),
        ...(count === 1 ? [] : [node("keys", {}, bundle.filter(({ tag }) => tag !== "registration"))])
      ]
    }, envelope.from)
  }

  /** A device that cannot decrypt a group message may lack the sender key. The next message contains it again. */
  #forgetSenderKey(device: Address, group: string): void {
    const entry = `${this.number}/${group}`
    const holders = this.#senderKeys.get(entry)
    if (holders !== undefined) this.#senderKeys.set(entry, holders.filter((key) => key !== keyOf(device)))
  }

  /** Encrypts a message in a new session for a device that could not decrypt it. */
  async #resend(receipt: Receipt): Promise<void> {
    const message = this.chats.get(receipt.ids[0])
    const stanza = node("receipt", {}, [...(receipt.content ?? [])])
    const count = Number(child(stanza, "retry")?.attrs["count"] ?? 1)
    const bundle = readRetryKeys(stanza) ?? this.#network.takeBundle(receipt.from)
    if (message === undefined || bundle === undefined || count > maxRetries) return
    this.counters.retriesAnswered += 1
    this.#forgetSenderKey(receipt.from, message.chat)
    const content = this.#contentFor(receipt.from, message, proto.Message.decode(message.content))
    const enc = encNode(await this.#encrypt(receipt.from, content, bundle), { count: String(count) })
    this.#network.deliver(this.#envelope(message, stanzaType(content), [enc]), receipt.from, 1)
  }
}
