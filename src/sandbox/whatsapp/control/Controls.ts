import { proto } from "@whiskeysockets/baileys"
import { isGroupJid, isPhoneNumber, keyOf, lidOf, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import type { Fault } from "../model/Faults.ts"
import type { Group } from "../model/Groups.ts"
import { SimulatorRefusal } from "../model/SimulatorRefusal.ts"
import type { ChatMessage, ChatMessageStatus } from "../phones/Chats.ts"
import { chatJid } from "../phones/Envelope.ts"
import { mediaMessage, openMedia } from "../phones/mediaMessage.ts"
import type { MediaFile } from "../phones/mediaMessage.ts"
import type { PhoneCounters, PhoneReceipts, VirtualPhone } from "../phones/VirtualPhone.ts"
import type { Companion } from "../server/Companions.ts"
import type { MemberAction } from "../server/GroupActions.ts"
import type { Misbehaviour, SimulatedServer } from "../server/SimulatedServer.ts"

/** A virtual phone as the control plane shows it. */
export interface PhoneView {
  readonly number: string
  readonly lid: string
  readonly pushName: string
  readonly receipts: PhoneReceipts
}

/** A message of a phone as the control plane shows it. */
export interface MessageView {
  readonly id: string
  /** The number of the other side, or the jid of a group. */
  readonly chat: string
  readonly from: string
  readonly at: number
  readonly addressing: Addressing
  readonly type: string
  readonly text: string | null
  readonly status: ChatMessageStatus
  /** How often it has arrived. */
  readonly arrivals: number
}

/** A linked device as the control plane shows it. */
export interface SessionView {
  /** `number:device`, the name of the session in the control plane. */
  readonly session: string
  readonly number: string
  readonly isConnected: boolean
  /** Logins since it was paired: one more after each return with the same credentials. */
  readonly logins: number
  readonly preKeys: number
  /** Stanzas it has not acknowledged. */
  readonly waiting: number
}

/** What tests count. */
export interface CountersView {
  readonly acks: number
  /** Connections that were ended because what came over them made no sense. */
  readonly nonsense: number
  /** The versions of WhatsApp Web that clients have said they are. */
  readonly versions: ReadonlyArray<string>
  /** Stanzas of clients, by tag. */
  readonly stanzas: Readonly<Record<string, number>>
  /** By number. */
  readonly phones: Readonly<Record<string, PhoneCounters & { readonly received: number; readonly duplicates: number }>>
}

/** A file in a form that JSON can carry. */
export interface FileInput extends Omit<MediaFile, "bytes"> {
  readonly base64: string
  readonly addressing?: Addressing | undefined
}

/** A text with what may be said about its way. */
export interface TextInput {
  readonly text: string
  readonly addressing?: Addressing | undefined
  /** The id of the message it quotes. */
  readonly replyTo?: string | undefined
  /** The id that it gets, be it one that no message can have. */
  readonly id?: string | undefined
}

/**
 * The verbs by which tests and the sandbox's pages move phones and sessions. Numbers are digits only, sessions are named
 * `number:device`, and everything that goes in or comes out can be JSON. A verb that cannot be done fails with a
 * `SimulatorRefusal`.
 */
export class Controls {
  readonly #server: SimulatedServer

  constructor(server: SimulatedServer) {
    this.#server = server
  }

  /** A phone with this number; of one that exists, the name is changed. */
  createPhone(number: string, pushName: string): PhoneView {
    if (!isPhoneNumber(number)) throw new SimulatorRefusal("A number has 7 to 15 digits and no plus sign")
    return this.#view(this.#server.exchange.phones.create(number, pushName))
  }

  phones(): ReadonlyArray<PhoneView> {
    return this.#server.exchange.phones.all().map((phone) => this.#view(phone))
  }

  /** The phone scans the QR code that a client shows; the answer is the name of the new session. */
  scan(qr: string, number: string): string {
    return keyOf(this.#server.pairing.scan(qr, this.#phone(number)))
  }

  /** Somebody types a client's pairing code into the phone. A wrong code ends the client's connection. */
  async enterPairingCode(code: string, number: string): Promise<void> {
    await this.#server.pairing.enterCode(code, this.#phone(number))
  }

  /** A phone sends a text to a number or a group; the answer is the message's id. */
  sendText(from: string, chat: string, { addressing, id, replyTo, text }: TextInput): Promise<string> {
    const phone = this.#phone(from)
    const quoted = replyTo === undefined ? undefined : this.#message(phone, replyTo)
    return phone.send(
      chat,
      quoted === undefined ? { conversation: text } : {
        extendedTextMessage: {
          text,
          contextInfo: {
            stanzaId: quoted.id,
            participant: pnJid(userOf(quoted.from)),
            quotedMessage: proto.Message.decode(quoted.content)
          }
        }
      },
      { addressing, id }
    )
  }

  /** A phone sends a file. */
  async sendMedia(from: string, chat: string, { addressing, base64, ...file }: FileInput): Promise<string> {
    const content = await mediaMessage({ ...file, bytes: Buffer.from(base64, "base64") }, this.#server.exchange.media)
    return this.#phone(from).send(chat, content, { addressing })
  }

  /** A phone puts an emoji on a message it has; an empty one takes it away. */
  react(from: string, messageId: string, emoji: string): Promise<string> {
    const phone = this.#phone(from)
    const { addressing, chat, from: author, id } = this.#message(phone, messageId)
    const participant = isGroupJid(chat) ? { participant: chatJid(author, addressing) } : {}
    const key = { id, remoteJid: chatJid(chat, addressing), fromMe: author === from, ...participant }
    return phone.send(chat, { reactionMessage: { key, text: emoji, senderTimestampMs: this.#server.exchange.now() } }, {
      addressing
    })
  }

  /** A phone gives a message that it has sent other words. */
  edit(from: string, messageId: string, text: string): Promise<string> {
    const phone = this.#phone(from)
    const { addressing, chat, id } = this.#message(phone, messageId)
    const key = { id, remoteJid: chatJid(chat, addressing), fromMe: true }
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT
    const protocolMessage = { key, type, editedMessage: { conversation: text } }
    return phone.send(chat, { editedMessage: { message: { protocolMessage } } }, { addressing })
  }

  /** A phone asks a question. */
  poll(
    from: string,
    chat: string,
    { name, options }: { name: string; options: ReadonlyArray<string> }
  ): Promise<string> {
    return this.#phone(from).send(chat, {
      pollCreationMessage: { name, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: 1 }
    })
  }

  /** Which receipts a phone sends by itself; both when nothing was said. */
  setReceipts(number: string, receipts: PhoneReceipts): void {
    const phone = this.#phone(number)
    phone.record.receipts = receipts
    this.#server.exchange.phones.changed(phone)
  }

  /** A phone tells the author of a message that it was delivered or read. */
  sendReceipt(number: string, messageId: string, type: "delivered" | "read"): void {
    const phone = this.#phone(number)
    const message = this.#message(phone, messageId)
    phone.report(message, type, { number: message.from, device: message.fromDevice })
  }

  /** The messages of a phone, or of one of its chats, oldest first. */
  messages(number: string, chat?: string): ReadonlyArray<MessageView> {
    return this.#phone(number).chats.all()
      .filter((message) => chat === undefined || message.chat === chat)
      .map(({ content: _, fromDevice: _device, sequence: _sequence, ...message }) => message)
  }

  /** The file of a message, decrypted. */
  async media(number: string, messageId: string): Promise<{ readonly mimetype: string; readonly base64: string }> {
    const { content } = this.#message(this.#phone(number), messageId)
    const file = await openMedia(proto.Message.decode(content), this.#server.exchange.media)
    if (file === undefined) throw new SimulatorRefusal(`There is no file of message ${messageId}`)
    return { mimetype: file.mimetype, base64: Buffer.from(file.bytes).toString("base64") }
  }

  /** A phone makes a group. */
  createGroup(actor: string, subject: string, numbers: ReadonlyArray<string>): Group {
    return this.#server.exchange.actions.create(this.#phone(actor).number, subject, numbers)
  }

  /** A phone that is an admin changes members; somebody removes himself to leave. */
  changeGroup(group: string, actor: string, change: { action: MemberAction; numbers: ReadonlyArray<string> }): Group {
    const found = this.#server.exchange.actions.requireMember(this.#server.exchange.groups.get(group), actor)
    this.#server.exchange.actions.change(found, actor, change)
    return found
  }

  /** A phone follows the link of a group. */
  joinGroup(number: string, inviteCode: string): Group {
    const group = this.groups().find((candidate) => candidate.inviteCode === inviteCode)
    if (group === undefined) throw new SimulatorRefusal("No group has this link")
    this.#server.exchange.actions.join(group, this.#phone(number).number)
    return group
  }

  groups(): ReadonlyArray<Group> {
    return this.#server.exchange.groups.all()
  }

  /** The linked devices of all phones. */
  sessions(): ReadonlyArray<SessionView> {
    const { companions } = this.#server.exchange
    return companions.all().map(({ address, logins, preKeys }) => ({
      session: keyOf(address),
      number: address.number,
      isConnected: companions.line(address) !== undefined,
      logins,
      preKeys: preKeys.length,
      waiting: companions.waiting(address)
    }))
  }

  /** Cuts the line of a session without a word. */
  dropLine(session: string): void {
    this.#server.exchange.companions.line(this.#session(session))?.drop()
  }

  /** Takes a session off its phone: it is logged out, and cannot come back. */
  logOut(session: string): void {
    this.#server.logOut(this.#session(session))
  }

  /** Ends the line of a session with a stream error: 440, 503, 515. */
  endLine(session: string, code: number): void {
    this.#server.endWith(this.#session(session), code)
  }

  /** Does to the line of a session what no server should do. */
  misbehave(session: string, misbehaviour: Misbehaviour): void {
    this.#server.misbehave(this.#session(session), misbehaviour)
  }

  /** Forgets pre-keys of a session until only so many are left, as if others had used them up. */
  keepPreKeys(session: string, count: number): void {
    const companion = this.#companion(session)
    companion.preKeys = companion.preKeys.slice(0, count)
    this.#server.exchange.companions.changed(companion)
  }

  /** Arms a fault for the sessions of a number. */
  setFault(number: string, fault: Fault): void {
    this.#server.exchange.faults.set(number, fault)
  }

  clearFaults(number: string): void {
    this.#server.exchange.faults.clear(number)
  }

  counters(): CountersView {
    const phones = this.#server.exchange.phones.all().map((phone) => {
      const received = phone.chats.all().filter(({ from }) => from !== phone.number)
      const duplicates = received.reduce((sum, { arrivals }) => sum + arrivals - 1, 0)
      return [phone.number, { ...phone.counters, received: received.length, duplicates }] as const
    })
    const { acks, nonsense, stanzas, versions } = this.#server.counters
    return {
      acks,
      nonsense,
      versions: [...versions],
      stanzas: Object.fromEntries(stanzas),
      phones: Object.fromEntries(phones)
    }
  }

  #view({ record: { number, pushName, receipts } }: VirtualPhone): PhoneView {
    return { number, lid: lidOf(number), pushName, receipts }
  }

  #phone(number: string): VirtualPhone {
    const phone = this.#server.exchange.phones.get(number)
    if (phone === undefined) throw new SimulatorRefusal(`No phone has the number ${number}`)
    return phone
  }

  #message(phone: VirtualPhone, id: string): ChatMessage {
    const message = phone.chats.get(id)
    if (message === undefined) throw new SimulatorRefusal(`The phone ${phone.number} has no message ${id}`)
    return message
  }

  #session(session: string): Address {
    return this.#companion(session).address
  }

  #companion(session: string): Companion {
    const [number = "", device = ""] = session.split(":")
    const companion = this.#server.exchange.companions.get({ number, device: Number(device) })
    if (companion === undefined) throw new SimulatorRefusal(`There is no session ${session}`)
    return companion
  }
}
