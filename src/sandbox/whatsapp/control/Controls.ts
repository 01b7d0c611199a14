import { proto } from "@whiskeysockets/baileys"
import { isGroupJid, isPhoneNumber, keyOf, lidOf, pnJid, userOf } from "../model/Address.ts"
import type { Address, Addressing } from "../model/Address.ts"
import type { Fault } from "../model/Faults.ts"
import type { Group } from "../model/Groups.ts"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import type { ChatMessage } from "../phones/Chats.ts"
import { chatJid } from "../phones/Envelope.ts"
import { mediaMessage, openMedia } from "../phones/mediaMessage.ts"
import type { MediaFile } from "../phones/mediaMessage.ts"
import type { PhoneCounters, PhoneReceipts, VirtualPhone } from "../phones/VirtualPhone.ts"
import type { Companion } from "../server/Companions.ts"
import type { MemberAction } from "../server/GroupActions.ts"
import type { Misbehaviour, SimulatedServer } from "../server/SimulatedServer.ts"
import { type MessageView, viewOf } from "./MessageView.ts"

/** A virtual phone. */
export interface PhoneView {
  readonly number: string
  readonly lid: string
  readonly pushName: string
  readonly receipts: PhoneReceipts
}

/** A linked device. */
export interface SessionView {
  /** `number:device`, the name of the session. */
  readonly session: string
  readonly number: string
  readonly isConnected: boolean
  /** Logins since the pairing. */
  readonly logins: number
  readonly preKeys: number
  /** Stanzas that it has not acknowledged. */
  readonly waiting: number
}

/** Counters for tests. */
export interface CountersView {
  readonly acks: number
  /** The versions of WhatsApp Web that clients report. */
  readonly versions: ReadonlyArray<string>
  /** Stanzas from clients, by tag. */
  readonly stanzas: Readonly<Record<string, number>>
  /** By number. */
  readonly phones: Readonly<Record<string, PhoneCounters & { readonly received: number; readonly duplicates: number }>>
}

/** A file as JSON. */
export interface FileInput extends Omit<MediaFile, "bytes"> {
  readonly base64: string
  readonly addressing?: Addressing | undefined
}

/** A text and its options. */
export interface TextInput {
  readonly text: string
  readonly addressing?: Addressing | undefined
  /** The id of a message to quote. */
  readonly replyTo?: string | undefined
  /** The message id, also an invalid one. */
  readonly id?: string | undefined
}

/**
 * The verbs by which tests and the sandbox's pages control phones and sessions. Numbers are digits only, and sessions
 * are named `number:device`. All parameters and results are JSON. A verb that is not possible throws a
 * `SimulatorRefusal`.
 */
export class Controls {
  readonly #server: SimulatedServer

  constructor(server: SimulatedServer) {
    this.#server = server
  }

  /** Creates the phone of a number, or renames it. */
  createPhone(number: string, pushName: string): PhoneView {
    if (!isPhoneNumber(number)) {
      throw new SimulatorRefusal("The number is invalid. Use 7 to 15 digits with the code of the country.")
    }
    return this.#view(this.#server.exchange.phones.create(number, pushName))
  }

  phones(): ReadonlyArray<PhoneView> {
    return this.#server.exchange.phones.all().map((phone) => this.#view(phone))
  }

  /** Scans the QR code of a client. Returns the name of the new session. */
  scan(qr: string, number: string): string {
    return keyOf(this.#server.pairing.scan(qr, this.#phone(number)))
  }

  /** Enters the pairing code of a client. A wrong code ends the client's connection. */
  async enterPairingCode(code: string, number: string): Promise<void> {
    await this.#server.pairing.enterCode(code, this.#phone(number))
  }

  /** Sends a text to a number or a group. Returns the message id. */
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

  /** Sends a file. Returns the message id. */
  async sendMedia(from: string, chat: string, { addressing, base64, ...file }: FileInput): Promise<string> {
    const content = await mediaMessage({ ...file, bytes: Buffer.from(base64, "base64") }, this.#server.exchange.media)
    return this.#phone(from).send(chat, content, { addressing })
  }

  /** Reacts to a message. An empty emoji removes the reaction. */
  react(from: string, messageId: string, emoji: string): Promise<string> {
    const phone = this.#phone(from)
    const { addressing, chat, from: author, id } = this.#message(phone, messageId)
    const participant = isGroupJid(chat) ? { participant: chatJid(author, addressing) } : {}
    const key = { id, remoteJid: chatJid(chat, addressing), fromMe: author === from, ...participant }
    return phone.send(chat, { reactionMessage: { key, text: emoji, senderTimestampMs: this.#server.exchange.now() } }, {
      addressing
    })
  }

  /** Edits a message that the phone sent. */
  edit(from: string, messageId: string, text: string): Promise<string> {
    const phone = this.#phone(from)
    const { addressing, chat, id } = this.#message(phone, messageId)
    const key = { id, remoteJid: chatJid(chat, addressing), fromMe: true }
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT
    const protocolMessage = { key, type, editedMessage: { conversation: text } }
    return phone.send(chat, { editedMessage: { message: { protocolMessage } } }, { addressing })
  }

  /** Sends a poll. */
  poll(
    from: string,
    chat: string,
    { name, options }: { name: string; options: ReadonlyArray<string> }
  ): Promise<string> {
    return this.#phone(from).send(chat, {
      pollCreationMessage: { name, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: 1 }
    })
  }

  /** Sets the receipts that a phone sends. A new phone sends both. */
  setReceipts(number: string, receipts: PhoneReceipts): void {
    const phone = this.#phone(number)
    phone.record.receipts = receipts
    this.#server.exchange.phones.changed(phone)
  }

  /** Sends the author of a message a receipt. */
  sendReceipt(number: string, messageId: string, type: "delivered" | "read"): void {
    const phone = this.#phone(number)
    const message = this.#message(phone, messageId)
    phone.report(message, type, { number: message.from, device: message.fromDevice })
  }

  /** The messages of a phone, or of one of its chats, oldest first. */
  messages(number: string, chat?: string): ReadonlyArray<MessageView> {
    return this.#phone(number).chats.all()
      .filter((message) => chat === undefined || message.chat === chat)
      .map(viewOf)
  }

  /** The messages of the phones among these numbers, oldest first for each. */
  messagesOf(numbers: ReadonlyArray<string>): ReadonlyArray<MessageView> {
    return numbers.flatMap((number) => this.#server.exchange.phones.get(number)?.chats.all() ?? []).map(viewOf)
  }

  /** Deletes the messages of the phones among these numbers. Returns how many there were. */
  clearChats(numbers: ReadonlyArray<string>): number {
    return numbers.reduce((sum, number) => sum + (this.#server.exchange.phones.get(number)?.chats.clear() ?? 0), 0)
  }

  /** The decrypted file of a message. */
  async media(number: string, messageId: string): Promise<{ readonly mimetype: string; readonly base64: string }> {
    const { content } = this.#message(this.#phone(number), messageId)
    const file = await openMedia(proto.Message.decode(content), this.#server.exchange.media)
    if (file === undefined) throw new SimulatorRefusal(`Message ${messageId} has no file, or the store has deleted it`)
    return { mimetype: file.mimetype, base64: Buffer.from(file.bytes).toString("base64") }
  }

  /** Creates a group. */
  createGroup(actor: string, subject: string, numbers: ReadonlyArray<string>): Group {
    return this.#server.exchange.actions.create(this.#phone(actor).number, subject, numbers)
  }

  /** Changes members of a group. The phone must be an admin, unless it removes itself to leave. */
  changeGroup(group: string, actor: string, change: { action: MemberAction; numbers: ReadonlyArray<string> }): Group {
    const found = this.#server.exchange.actions.requireMember(this.#server.exchange.groups.get(group), actor)
    this.#server.exchange.actions.change(found, actor, change)
    return found
  }

  /** Resets the invite link of a group. The phone must be an admin. */
  renewInvite(group: string, actor: string): Group {
    const found = this.#server.exchange.actions.requireMember(this.#server.exchange.groups.get(group), actor)
    this.#server.exchange.actions.renewInvite(found, actor)
    return found
  }

  /** Joins a group by its invite link. */
  joinGroup(number: string, inviteCode: string): Group {
    const group = this.groups().find((candidate) => candidate.inviteCode === inviteCode)
    if (group === undefined) throw new SimulatorRefusal("No group has this invite link")
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
      isConnected: companions.connection(address) !== undefined,
      logins,
      preKeys: preKeys.length,
      waiting: companions.waiting(address)
    }))
  }

  /** Drops the connection of a session without a stanza. */
  dropConnection(session: string): void {
    this.#server.exchange.companions.connection(this.#session(session))?.drop()
  }

  /** Unlinks a session from its phone. It cannot log in again. */
  logOut(session: string): void {
    this.#server.logOut(this.#session(session))
  }

  /** Ends the connection of a session with a stream error, such as 440, 503 or 515. */
  endConnection(session: string, code: number): void {
    this.#server.endWith(this.#session(session), code)
  }

  /** Applies a fault of the server to the connection of a session. */
  misbehave(session: string, misbehaviour: Misbehaviour): void {
    this.#server.misbehave(this.#session(session), misbehaviour)
  }

  /** Removes all but `count` pre-keys of a session, as if other devices had used them. */
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
    const { acks, stanzas, versions } = this.#server.counters
    return {
      acks,
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
