import { encodeWAMessage, generateMessageIDV2, proto, unpadRandomMax16 } from "@whiskeysockets/baileys"
import type { BinaryNode } from "@whiskeysockets/baileys"
import { isGroupJid, keyOf, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import type { Shelf } from "../model/SimulatorState.ts"
import { bigEndian, child, node } from "../wire/stanza.ts"
import { stanzaType } from "../wire/stanzaType.ts"
import { Chats } from "./Chats.ts"
import type { ChatMessage } from "./Chats.ts"
import { chatJid } from "./Envelope.ts"
import type { Envelope, Receipt } from "./Envelope.ts"
import { bundleNodes, readRetryKeys } from "./KeyBundle.ts"
import type { KeyBundle } from "./KeyBundle.ts"
import type { Network } from "./Network.ts"
import { resendAnswer } from "./peerMessages.ts"
import { PhoneSignal } from "./PhoneSignal.ts"
import type { Ciphertext, PhoneKeys } from "./PhoneSignal.ts"

/** What of a phone outlives the process. */
export interface PhoneRecord {
  readonly number: string
  pushName: string
  readonly keys: PhoneKeys
  /** The index of the next companion. */
  nextDevice: number
  /** Which receipts the phone sends by itself. */
  receipts: PhoneReceipts
}

/** Which receipts a phone sends by itself when a message arrives. */
export interface PhoneReceipts {
  readonly delivered: boolean
  readonly read: boolean
}

/** Where the phones keep what they have. */
export interface PhoneShelves {
  readonly signal: Shelf<unknown>
  readonly messages: Shelf<ChatMessage>
  /** Devices that have the phone's sender key of a group, by `number/group`. */
  readonly senderKeys: Shelf<ReadonlyArray<string>>
}

/** What tests count. */
export interface PhoneCounters {
  decryptFailures: number
  /** Retries this phone asked of others. */
  retriesAsked: number
  /** Retries that others asked of this phone. */
  retriesAnswered: number
  /** What arrived and could not be dealt with, such as keys that are none. */
  failures: number
}

/** How a message leaves a phone. */
export interface Sending {
  readonly id?: string | undefined
  readonly addressing?: Addressing | undefined
}

const mostRetries = 5

const encNode = ({ bytes, type }: Ciphertext, attrs: BinaryNode["attrs"] = {}): BinaryNode =>
  node("enc", { v: "2", type, ...attrs }, Buffer.from(bytes))

/**
 * A phone without a person: it has an identity, opens real Signal sessions, decrypts what arrives, keeps chats, sends
 * receipts, asks for what it could not read and repeats what others could not. One operation runs at a time.
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

  /** A bundle to open a Signal session with this phone. */
  bundle(): KeyBundle {
    return this.#signal.bundle()
  }

  close(): void {
    this.#signal.close()
  }

  /** Sends a message to a number or a group; the promise is its id, once it is on its way. */
  send(chat: string, content: proto.IMessage, sending: Sending = {}): Promise<string> {
    return this.#alone(async () => {
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

  /** A word to a companion of the same user that no chat shows. */
  sendToCompanion(to: Address, content: proto.IMessage): Promise<void> {
    return this.#alone(async () => {
      const enc = encNode(await this.#encrypt(to, content))
      const id = generateMessageIDV2(pnJid(this.address))
      this.#network.deliver(this.#envelope({ id, chat: this.number, addressing: "pn" }, "peer", [enc]), to)
    })
  }

  /** Takes an envelope that has arrived. */
  receive(envelope: Envelope): Promise<void> {
    return this.#aside(async () => {
      const content = await this.#open(envelope).catch(() => undefined)
      if (content === undefined) {
        this.counters.decryptFailures += 1
        this.#askAgain(envelope)
        return
      }
      this.#retries.delete(envelope.id)
      await this.#keep(envelope, content)
    })
  }

  /** Takes what another device says about messages of this phone. */
  noteReceipt(receipt: Receipt): Promise<void> {
    return this.#aside(async () => {
      if (receipt.type === "retry") return this.#repeat(receipt)
      if (receipt.from.number === this.number) return
      const status = receipt.type === "read" || receipt.type === "played" ? "read" : "delivered"
      for (const id of receipt.ids) this.chats.advance(id, status)
    })
  }

  /** Tells the author of a message that it was delivered or read. */
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

  #alone<A>(job: () => Promise<A>): Promise<A> {
    const result = this.#work.then(job)
    this.#work = result.catch(() => undefined)
    return result
  }

  /** What others sent may be nonsense; nobody waits for it, so it must not fail. */
  #aside(job: () => Promise<void>): Promise<void> {
    return this.#alone(job).catch(() => {
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

  /** Opens a session where there is none; a new one when the former is not understood. */
  async #encrypt(to: Address, content: proto.IMessage, fresh?: KeyBundle): Promise<Ciphertext> {
    if (fresh !== undefined || !(await this.#signal.hasSession(to))) {
      const bundle = fresh ?? this.#network.takeBundle(to)
      if (bundle === undefined) throw new Error(`${keyOf(to)} has no keys`)
      await this.#signal.openSession(to, bundle)
    }
    return this.#signal.encrypt(to, encodeWAMessage(content))
  }

  /** Other devices of the same user learn where a message went. */
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
    const knowing = new Set(this.#senderKeys.get(entry))
    for (const to of this.#targets(this.#network.membersOf(message.chat))) {
      const enc = knowing.has(keyOf(to))
        ? [shared]
        : [encNode(await this.#encrypt(to, { senderKeyDistributionMessage: key })), shared]
      knowing.add(keyOf(to))
      this.#network.deliver(this.#envelope(message, stanzaType(content), enc), to)
    }
    this.#senderKeys.set(entry, [...knowing])
  }

  /** The content of an envelope; sender keys in it are learnt on the way. Fails when nothing can be read. */
  async #open(envelope: Envelope): Promise<proto.IMessage> {
    if (this.#network.isToFail(envelope)) throw new Error("asked to fail")
    let content: proto.IMessage = {}
    for (const { attrs, content: bytes, tag } of envelope.content) {
      if (tag !== "enc" || !(bytes instanceof Uint8Array)) continue
      const cipher = { type: attrs["type"] ?? "", bytes }
      const plain = await this.#signal.decrypt(envelope.from, cipher, envelope.chat)
      const message = proto.Message.decode(unpadRandomMax16(plain))
      const key = message.senderKeyDistributionMessage?.axolotlSenderKeyDistributionMessage
      if (key) await this.#signal.learnSenderKey(envelope.from, envelope.chat, key)
      content = { ...content, ...(message.deviceSentMessage?.message ?? message) }
    }
    return content
  }

  async #keep(envelope: Envelope, { senderKeyDistributionMessage: _, ...content }: proto.IMessage): Promise<void> {
    if (envelope.category === "peer") return this.#answer(envelope, content)
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

  /** Not waited for: it has its own turn. */
  #answer({ from, id }: Envelope, content: proto.IMessage): void {
    const answer = resendAnswer(content, id, this.chats)
    if (answer !== undefined) void this.sendToCompanion(from, answer).catch(() => undefined)
  }

  #askAgain(envelope: Envelope): void {
    const count = (this.#retries.get(envelope.id) ?? 0) + 1
    if (count > mostRetries) return
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

  /** A device that could not read a message of a group may lack the sender key: the next one brings it. */
  #forgetSenderKey(device: Address, group: string): void {
    const entry = `${this.number}/${group}`
    const knowing = this.#senderKeys.get(entry)
    if (knowing !== undefined) this.#senderKeys.set(entry, knowing.filter((key) => key !== keyOf(device)))
  }

  /** Encrypts a message anew, in a new session, for a device that could not read it. */
  async #repeat(receipt: Receipt): Promise<void> {
    const message = this.chats.get(receipt.ids[0])
    const stanza = node("receipt", {}, [...(receipt.content ?? [])])
    const count = Number(child(stanza, "retry")?.attrs["count"] ?? 1)
    const bundle = readRetryKeys(stanza) ?? this.#network.takeBundle(receipt.from)
    if (message === undefined || bundle === undefined || count > mostRetries) return
    this.counters.retriesAnswered += 1
    this.#forgetSenderKey(receipt.from, message.chat)
    const content = this.#contentFor(receipt.from, message, proto.Message.decode(message.content))
    const enc = encNode(await this.#encrypt(receipt.from, content, bundle), { count: String(count) })
    this.#network.deliver(this.#envelope(message, stanzaType(content), [enc]), receipt.from, 1)
  }
}
