import { isJidGroup, jidDecode, type WASocket } from "@whiskeysockets/baileys"
import { AsyncLocalStorage } from "node:async_hooks"
import type { NotRelayed, RelayedMessage } from "../socket/WhatsAppSocket.ts"
import { messageOf } from "./BaileysSending.ts"

/**
 * The library sends one message after the other, each in a transaction over the keys. Ratchets step under the guard and
 * need none; what else a message to one person changes is written at once, and so is what is learned after it has left,
 * which within a transaction that has ended would be lost: it would give a contact its token anew with each message.
 */
const outsideTransactions = ({ authState: { keys } }: WASocket) => {
  const outside = new AsyncLocalStorage<true>()
  const transaction = keys.transaction.bind(keys)
  keys.transaction = (work, key) => outside.getStore() === true ? work() : transaction(work, key)
  return <A>(work: () => Promise<A>) => outside.run(true, work)
}

/** The library's sentence has no content of a message and no key. */
const failureOf = (id: string) => (error: unknown): ReadonlyArray<NotRelayed> => [
  { id, reason: error instanceof Error ? error.message : "no reason was given" }
]

/** Messages to one chat one after the other, those to different chats side by side. Answers with those that failed. */
export const relayOver = (socket: WASocket, knowsDevicesOf: (user: string) => boolean) => {
  const outside = outsideTransactions(socket)

  const relayOne = ({ chat, id, ...kept }: RelayedMessage) => {
    const relay = () => socket.relayMessage(chat, messageOf(kept), { messageId: id })
    // Who has the key of a group is remembered when the message that gave it has left, at the end of a transaction.
    return (isJidGroup(chat) ? relay() : outside(relay)).then(() => [], failureOf(id))
  }

  const inTurn = (messages: ReadonlyArray<RelayedMessage>) =>
    messages.reduce(
      (before, message) => before.then((failed) => relayOne(message).then((more) => [...failed, ...more])),
      Promise.resolve<ReadonlyArray<NotRelayed>>([])
    )

  const sideBySide = (messages: ReadonlyArray<RelayedMessage>) =>
    Promise.all([...Map.groupBy(messages, ({ chat }) => chat).values()].map(inTurn)).then((failed) => failed.flat())

  return (messages: ReadonlyArray<RelayedMessage>) => {
    const own = jidDecode(socket.authState.creds.me?.id)?.user
    if (own !== undefined && knowsDevicesOf(own)) return sideBySide(messages)
    // The first one asks for the own devices; many would each ask, and each begin new ratchets with them.
    return inTurn(messages.slice(0, 1)).then((first) =>
      sideBySide(messages.slice(1)).then((rest) => [...first, ...rest])
    )
  }
}
