/**
 * Asks WhatsApp over the connection of a session.
 *
 * Who talks to it: `Contacts` and `Groups`, for requests. Where its state lives: it has none; what it learns is in the
 * rows of groups and of number checks. When its shard moves, questions under way fail and their requests say so; a
 * repeated question is asked again. It sleeps after a minute.
 */
import { Clock, Effect } from "effect"
import { Entity } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { GroupFacts, GroupRefused } from "../socket/DirectorySocket.ts"
import { LiveSockets } from "../socket/LiveSockets.ts"
import type { SessionSocket } from "../socket/WhatsAppSocket.ts"
import type { SocketFailed } from "../wire/SocketFailed.ts"
import { makeContactsRepo } from "./ContactsRepo.ts"
import { DirectoryEntity, type NotDone } from "./DirectoryEntity.ts"
import { makeGroupsRepo } from "./GroupsRepo.ts"

/** What is asked of a group once there is one: it is answered with in any case, within the patience of its request. */
const extrasWithin = "5 seconds"

const make = Effect.gen(function*() {
  const id = WhatsAppSessionId.make(Number((yield* Entity.CurrentAddress).entityId))
  const sql = yield* SqlClient.SqlClient
  const live = yield* LiveSockets
  const contacts = yield* makeContactsRepo
  const groups = yield* makeGroupsRepo

  const notDone = (_tag: NotDone["_tag"]): NotDone => ({ _tag })

  const ask = <A>(question: (socket: SessionSocket) => Effect.Effect<A, SocketFailed | GroupRefused>) =>
    live.ask(id, question).pipe(
      Effect.map((answer): A | NotDone => answer ?? notDone("NotConnected")),
      Effect.catchTags({
        SocketFailed: () => Effect.succeed(notDone("Unavailable")),
        GroupRefused: () => Effect.succeed(notDone("Refused"))
      })
    )

  const store = (group: GroupFacts, askedAt: number) =>
    Effect.provideService(transaction(groups.store(id, group, askedAt)), SqlClient.SqlClient, sql).pipe(Effect.orDie)

  /** Undefined, and a line in the log, when it was not done: whoever is told of a failure makes a second group. */
  const extra = <A>(what: string, question: (socket: SessionSocket) => Effect.Effect<A, SocketFailed | GroupRefused>) =>
    live.ask(id, question).pipe(
      Effect.timeout(extrasWithin),
      Effect.catch((error) =>
        Effect.as(
          Effect.annotateLogs(Effect.logWarning(`${what} of a new WhatsApp group is missing`, error), { session: id }),
          undefined
        )
      )
    )

  const describe = Effect.fnUntraced(function*(created: GroupFacts, description: string) {
    const described = yield* extra(
      "the description",
      (socket) => Effect.as(socket.changeGroup(created.jid, { _tag: "Describe", description }), true)
    )
    if (described === true) yield* store({ ...created, description }, yield* Clock.currentTimeMillis)
  })

  return DirectoryEntity.of({
    Check: ({ payload: { number } }) =>
      ask((socket) =>
        Effect.gen(function*() {
          const whatsapp_id = (yield* socket.chatOf(number)) ?? null
          yield* Effect.orDie(contacts.noteCheck({ id, phone: number, whatsapp_id }))
          return { _tag: "Checked" as const, whatsapp_id }
        })
      ),
    CreateGroup: Effect.fnUntraced(function*({ payload: { description, name, numbers } }) {
      const created = yield* ask((socket) => socket.createGroup({ name, numbers }))
      if ("_tag" in created) return created
      yield* store(created, yield* Clock.currentTimeMillis)
      const [row] = yield* Effect.orDie(groups.ensure(id, [created.jid]))
      // It was stored just now.
      if (row === undefined) return notDone("Unavailable")
      if (description !== null) yield* describe(created, description)
      const code = yield* extra("the link", (socket) => socket.inviteCode(created.jid))
      yield* Effect.orDie(groups.noteInvite({ id: row.id, code: code ?? null }))
      return { _tag: "Created" as const, id: row.id }
    }),
    ChangeGroup: ({ payload: { changes, jid } }) =>
      ask((socket) =>
        Effect.gen(function*() {
          for (const change of changes) yield* socket.changeGroup(jid, change)
          const askedAt = yield* Clock.currentTimeMillis
          yield* store(yield* socket.group(jid), askedAt)
          return { _tag: "Changed" as const }
        })
      ),
    Invite: ({ payload: { jid } }) =>
      ask((socket) => Effect.map(socket.inviteCode(jid), (code) => ({ _tag: "Code" as const, code: code ?? null })))
  })
})

/** Runs where the sessions run. Whoever waits for an answer must not keep others waiting. */
export const DirectoryActor = drainBeforeClose((stay) =>
  DirectoryEntity.toLayer(Effect.andThen(stay, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
)
