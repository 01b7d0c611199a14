import { normalizeMessageContent, proto } from "@whiskeysockets/baileys"
import type { Addressing } from "../model/Address.ts"
import type { Shelf } from "../model/SimulatorState.ts"

/** The status of a message; `received` if another phone sent it. */
export type ChatMessageStatus = "sent" | "delivered" | "read" | "received"

/** A message on a virtual phone. */
export interface ChatMessage {
  readonly id: string
  /** The number of the other phone, or the jid of the group. */
  readonly chat: string
  /** The phone number of its author. */
  readonly from: string
  readonly fromDevice: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly addressing: Addressing
  /** The type of the content, such as conversation, imageMessage or reactionMessage. */
  readonly type: string
  /** The visible text: a caption, the emoji of a reaction, the question of a poll. */
  readonly text: string | null
  /** The encoded protobuf. */
  readonly content: Uint8Array
  /** How often it arrived. The phone hides duplicates. */
  arrivals: number
  status: ChatMessageStatus
  readonly sequence: number
}

const placeOf = ({ address, degreesLatitude, degreesLongitude, name }: proto.Message.ILocationMessage) =>
  [name, address, `${degreesLatitude}, ${degreesLongitude}`].filter(Boolean).join("\n")

const describe = (content: proto.IMessage): { readonly type: string; readonly text: string | null } => {
  const message = normalizeMessageContent(content) ?? {}
  const [type] = Object.entries(message).find(([key, value]) => key !== "messageContextInfo" && value) ?? []
  const text = message.conversation ??
    message.extendedTextMessage?.text ??
    message.reactionMessage?.text ??
    message.imageMessage?.caption ??
    message.videoMessage?.caption ??
    message.documentMessage?.caption ??
    message.documentMessage?.fileName ??
    message.pollCreationMessage?.name ??
    message.pollCreationMessageV3?.name ??
    message.contactMessage?.displayName ??
    (message.locationMessage ? placeOf(message.locationMessage) : null)
  return { type: type ?? "unknown", text }
}

/** The phone then deletes its oldest message. */
const maxMessages = 2_000

/** The messages of one phone, oldest first. */
export class Chats {
  readonly #number: string
  readonly #shelf: Shelf<ChatMessage>
  readonly #messages = new Map<string, ChatMessage>()
  #sequence = 0

  constructor(number: string, shelf: Shelf<ChatMessage>) {
    this.#number = number
    this.#shelf = shelf
    const own = shelf.entries().filter(([key]) => key.startsWith(`${number}/`)).map(([, message]) => message)
    for (const message of own.toSorted((a, b) => a.sequence - b.sequence)) {
      this.#messages.set(message.id, message)
      this.#sequence = message.sequence
    }
  }

  get(id: string): ChatMessage | undefined {
    return this.#messages.get(id)
  }

  all(): ReadonlyArray<ChatMessage> {
    return [...this.#messages.values()]
  }

  add(
    message: Pick<ChatMessage, "addressing" | "at" | "chat" | "from" | "fromDevice" | "id" | "status">,
    content: proto.IMessage
  ): ChatMessage {
    const stored = {
      ...message,
      ...describe(content),
      content: proto.Message.encode(content).finish(),
      arrivals: 1,
      sequence: ++this.#sequence
    }
    this.#messages.set(stored.id, stored)
    this.#shelf.set(`${this.#number}/${stored.id}`, stored)
    const [oldest] = this.#messages.keys()
    if (this.#messages.size > maxMessages && oldest !== undefined) {
      this.#messages.delete(oldest)
      this.#shelf.delete(`${this.#number}/${oldest}`)
    }
    return stored
  }

  /** Deletes all messages. Returns how many there were. */
  clear(): number {
    const count = this.#messages.size
    for (const id of this.#messages.keys()) this.#shelf.delete(`${this.#number}/${id}`)
    this.#messages.clear()
    return count
  }

  /** Counts another arrival of a message. */
  arrivedAgain(message: ChatMessage): void {
    message.arrivals += 1
    this.#shelf.touch(`${this.#number}/${message.id}`)
  }

  /** Moves the status of a sent message forward, never back. */
  advance(id: string, status: "delivered" | "read"): void {
    const message = this.#messages.get(id)
    if (message === undefined || message.status === "received" || message.status === "read") return
    message.status = status
    this.#shelf.touch(`${this.#number}/${id}`)
  }
}
