import { Context, Effect, Layer, Option, type Scope } from "effect"
import { Database } from "../../../platform/database/Database.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { Journal, type Journaled } from "../credentials/Journal.ts"
import { ReceivedMessages } from "../socket/MessageTraffic.ts"
import { inboundEnvelope } from "./inboundEnvelope.ts"
import { inboundMessage } from "./inboundMessage.ts"
import { encodePayload, inboxPlace } from "./InboxItem.ts"
import { type InboxEntry, InboxRepo } from "./InboxRepo.ts"

/**
 * Parses a message, once, and makes its row. None for a message without content for people, such as one that only
 * distributes a key: the message that follows it has the same id, and the first row of an id is the one that stays.
 */
const entryOf = ({ conceal, envelope, plaintext, sessionId }: Journaled): Option.Option<InboxEntry> => {
  const { attrs } = envelope
  const outside = inboundEnvelope(envelope)
  const message = outside === undefined ? undefined : inboundMessage(plaintext)
  if (outside === undefined || message === undefined) return Option.none()
  const { author, chat, id } = outside
  return Option.some({
    session_id: sessionId,
    kind: "message",
    chat,
    whatsapp_id: id,
    author: author.lid ?? (author.phone === undefined ? null : `${author.phone}@s.whatsapp.net`),
    payload: conceal(inboxPlace(sessionId, chat, id), encodePayload({ attrs, body: plaintext, message }))
  })
}

/** The stored, encrypted messages and membership changes of sessions. */
export class Inbox extends Context.Service<Inbox, {
  /** Adds entries within the current transaction, except those that are already stored. */
  readonly add: (entries: ReadonlyArray<InboxEntry>) => Effect.Effect<void>
  /** Calls `wake` after each commit that adds to the session's inbox, until the scope ends. */
  readonly subscribe: (id: WhatsAppSessionId, wake: () => void) => Effect.Effect<void, never, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.gen(function*() {
      const { afterCommit } = yield* Database
      const repo = yield* InboxRepo
      const subscribers = new Map<WhatsAppSessionId, () => void>()
      return Inbox.of({
        add: Effect.fn("Inbox.add")(function*(entries) {
          if (entries.length === 0) return
          yield* repo.insert(entries)
          const sessions = new Set(entries.map(({ session_id }) => session_id))
          yield* afterCommit(Effect.sync(() => {
            for (const id of sessions) subscribers.get(id)?.()
          }))
        }),
        subscribe: (id, wake) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              subscribers.set(id, wake)
            }),
            () =>
              Effect.sync(() => {
                if (subscribers.get(id) === wake) subscribers.delete(id)
              })
          )
      })
    })
  ).pipe(Layer.provide(InboxRepo.layer))

  /** Stores each message in the transaction that decrypted it, before WhatsApp gets its acknowledgement. */
  static readonly layerJournal = Layer.effect(
    Journal,
    Effect.map(Inbox, ({ add }) =>
      Journal.of({
        write: (messages) => add(messages.flatMap((message) => Option.toArray(entryOf(message))))
      }))
  )

  /** Finds received messages, for messages that refer to them. */
  static readonly layerReceived = Layer.effect(
    ReceivedMessages,
    Effect.map(InboxRepo, ({ reference }) =>
      ReceivedMessages.of({
        find: (sessionId, id) =>
          Effect.map(
            reference({ sessionId, id }),
            Option.match({
              onNone: () => undefined,
              onSome: ({ author, chat, whatsapp_id }) => ({
                chat,
                id: whatsapp_id,
                isOwn: false,
                author: chat.endsWith("@g.us") ? author ?? undefined : undefined
              })
            })
          )
      }))
  ).pipe(Layer.provide(InboxRepo.layer))
}
