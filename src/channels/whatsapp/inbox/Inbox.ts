import { Context, Effect, Layer, Option, type Scope } from "effect"
import { afterCommit } from "../../../platform/database/transaction.ts"
import type { MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Journal, type Journaled } from "../credentials/Journal.ts"
import { ReceivedMessages } from "../socket/MessagePorts.ts"
import { inboundEnvelope } from "./inboundEnvelope.ts"
import { inboundMessage } from "./inboundMessage.ts"
import { encodePayload, inboxPlace } from "./inboxPayload.ts"
import { type InboxEntry, makeInboxRepo } from "./InboxRepo.ts"

/** The row of a message; none for what has nothing for people in it. */
const entryOf = ({ envelope, plaintext, conceal, sessionId }: Journaled): Option.Option<InboxEntry> => {
  const outside = inboundEnvelope(envelope)
  if (outside === undefined || inboundMessage(plaintext) === undefined) return Option.none()
  const { author, chat, id } = outside
  const payload = encodePayload({ attrs: envelope.attrs, body: plaintext })
  return Option.some({
    session_id: sessionId,
    kind: "message",
    chat,
    whatsapp_id: id,
    author: author.lid ?? (author.phone === undefined ? null : `${author.phone}@s.whatsapp.net`),
    payload: conceal(inboxPlace(sessionId, chat, id), payload)
  })
}

/** Everything that came in, encrypted; who works a session's rows off is told of each. */
export class Inbox extends Context.Service<Inbox, {
  /** In the transaction in hand. What is there already stays as it is. */
  readonly add: (entries: ReadonlyArray<InboxEntry>) => Effect.Effect<void>
  /** Calls `wake` after each commit of rows of the session, until the scope ends. */
  readonly attend: (id: WhatsAppSessionId, wake: () => void) => Effect.Effect<void, never, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.gen(function*() {
      const repo = yield* makeInboxRepo
      const attendants = new Map<WhatsAppSessionId, () => void>()
      return Inbox.of({
        add: Effect.fn("Inbox.add")(function*(entries) {
          if (entries.length === 0) return
          yield* Effect.orDie(repo.insert(entries))
          const sessions = new Set(entries.map(({ session_id }) => session_id))
          yield* afterCommit(Effect.sync(() => {
            for (const id of sessions) attendants.get(id)?.()
          }))
        }),
        attend: (id, wake) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              attendants.set(id, wake)
            }),
            () =>
              Effect.sync(() => {
                if (attendants.get(id) === wake) attendants.delete(id)
              })
          )
      })
    })
  )

  /** The journal: messages are in the inbox before WhatsApp hears that they came. */
  static readonly layerJournal = Layer.effect(
    Journal,
    Effect.map(Inbox, ({ add }) => ({
      write: (messages: ReadonlyArray<Journaled>) =>
        add(messages.flatMap((message) => Option.toArray(entryOf(message))))
    }))
  )

  /** What a message that came in is called at WhatsApp, for one that is about it. */
  static readonly layerReceived = Layer.effect(
    ReceivedMessages,
    Effect.map(makeInboxRepo, ({ nameOf }) => (sessionId: WhatsAppSessionId, id: MessageId) =>
      Effect.map(
        Effect.orDie(nameOf({ sessionId, id })),
        Option.match({
          onNone: () => undefined,
          onSome: ({ author, chat, whatsapp_id }) => ({
            chat,
            id: whatsapp_id,
            isOwn: false,
            author: chat.endsWith("@g.us") ? author ?? undefined : undefined
          })
        })
      ))
  )
}
