import { isJidGroup, jidDecode, type WASocket } from "@whiskeysockets/baileys"
import { AsyncLocalStorage } from "node:async_hooks"
import type { NotRelayed, RelayedMessage } from "../socket/WhatsAppSocket.ts"
import { decodeBody } from "../wire/MessageBody.ts"
import { reasonOf } from "./BaileysErrors.ts"

const cacheLifetime = 6 * 60 * 60 * 1000
const cacheCapacity = 2000

/**
 * The devices of a session's contacts, for six hours. The library's own cache forgets them after five minutes. Each time
 * it asks again it starts new Signal sessions, which costs the contact a prekey. Notifications of device changes empty it.
 */
export class DeviceCache {
  readonly #entries = new Map<string, { readonly value: unknown; readonly until: number }>()

  /** The library knows the type of the value that it has set. */
  get<A>(key: string): A | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.until < performance.now() ? undefined : entry.value as A
  }

  set(key: string, value: unknown): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: performance.now() + cacheLifetime })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > cacheCapacity && oldest !== undefined) this.#entries.delete(oldest)
  }

  del(key: string): void {
    this.#entries.delete(key)
  }

  flushAll(): void {
    this.#entries.clear()
  }
}

/**
 * Runs work outside of the library's transactions over the keys, which would send one message after the other. Ratchet
 * steps are serialised anyway, and other changes for a message to one person are written at once. That includes changes
 * after the message has left: in a transaction that has ended they would be lost, and every message would give the
 * contact its token again.
 */
const outsideTransactions = ({ authState: { keys } }: WASocket) => {
  const outside = new AsyncLocalStorage<true>()
  const transaction = keys.transaction.bind(keys)
  keys.transaction = (work, key) => outside.getStore() === true ? work() : transaction(work, key)
  return <A>(work: () => Promise<A>) => outside.run(true, work)
}

/**
 * Sends messages to one chat in order and to different chats concurrently. Answers with the messages that it could not
 * send.
 */
export const relayOver = (socket: WASocket, devices: DeviceCache) => {
  const outside = outsideTransactions(socket)

  const relayOne = (
    { body, chat, fillIn, id }: RelayedMessage,
    isHeld: () => boolean
  ): Promise<ReadonlyArray<NotRelayed>> => {
    if (!isHeld()) return Promise.resolve([{ id, reason: "another node may own the session" }])
    const relay = () => socket.relayMessage(chat, decodeBody(body, fillIn), { messageId: id })
    // A group needs the transaction: at its end the library records who has received the group's key.
    const sent = isJidGroup(chat) ? relay() : outside(relay)
    return sent.then(() => [], (error: unknown) => [{ id, reason: reasonOf(error) }])
  }

  const inOrder = (messages: ReadonlyArray<RelayedMessage>, isHeld: () => boolean) =>
    messages.reduce(
      (before, message) => before.then((failed) => relayOne(message, isHeld).then((more) => [...failed, ...more])),
      Promise.resolve<ReadonlyArray<NotRelayed>>([])
    )

  const concurrently = (messages: ReadonlyArray<RelayedMessage>, isHeld: () => boolean) =>
    Promise.all([...Map.groupBy(messages, ({ chat }) => chat).values()].map((group) => inOrder(group, isHeld)))
      .then((failed) => failed.flat())

  return (messages: ReadonlyArray<RelayedMessage>, isHeld: () => boolean) => {
    const own = jidDecode(socket.authState.creds.me?.id)?.user
    if (own !== undefined && devices.get(own) !== undefined) return concurrently(messages, isHeld)
    // The first message looks up the session's own devices. Concurrent ones would each ask and start new ratchets.
    return inOrder(messages.slice(0, 1), isHeld).then((first) =>
      concurrently(messages.slice(1), isHeld).then((rest) => [...first, ...rest])
    )
  }
}
