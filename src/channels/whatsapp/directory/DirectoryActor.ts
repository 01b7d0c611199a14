/**
 * Sends requests about contacts and groups to WhatsApp, over the connection of a session.
 *
 * Callers: `Contacts` and `Groups`, through `Directory`.
 * State: none. Groups and number checks are stored in their rows.
 * On shard move: requests in flight fail, and their callers see WhatsApp as unavailable.
 * Idempotence: none. The cluster delivers each request at most once, and a repeated HTTP request is sent again.
 * Sleep: after one minute without requests.
 */
import { Clock, Effect, Layer } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { GroupFacts } from "../socket/DirectorySocket.ts"
import { LiveSockets } from "../socket/LiveSockets.ts"
import type { GroupRefused, SocketFailed } from "../socket/SocketErrors.ts"
import type { SessionSocket } from "../socket/WhatsAppSocket.ts"
import { ContactsRepo } from "./ContactsRepo.ts"
import { DirectoryEntity, type NotDone } from "./DirectoryEntity.ts"
import { GroupsRepo } from "./GroupsRepo.ts"

/** The timeout of each request that completes a new group. It leaves the HTTP request time to answer. */
const completionTimeout = "5 seconds"

const make = Effect.gen(function*() {
  const id = WhatsAppSessionId.make(Number((yield* Entity.CurrentAddress).entityId))
  const { transaction } = yield* Database
  const live = yield* LiveSockets
  const contacts = yield* ContactsRepo
  const groups = yield* GroupsRepo

  const notDone = (_tag: NotDone["_tag"]): NotDone => ({ _tag })

  const ask = <A>(request: (socket: SessionSocket) => Effect.Effect<A, SocketFailed | GroupRefused>) =>
    live.ask(id, request).pipe(
      Effect.map((answer): A | NotDone => answer ?? notDone("NotConnected")),
      Effect.catchTags({
        SocketFailed: () => Effect.succeed(notDone("Unavailable")),
        GroupRefused: () => Effect.succeed(notDone("Refused"))
      })
    )

  const store = (group: GroupFacts, askedAt: number) =>
    retryWhileUnavailable(transaction(groups.store(id, group, askedAt)))

  /** Logs a failure instead of returning it: a caller that sees a failure would create the group again. */
  const complete = <A>(
    what: string,
    request: (socket: SessionSocket) => Effect.Effect<A, SocketFailed | GroupRefused>
  ) =>
    live.ask(id, request).pipe(
      Effect.timeout(completionTimeout),
      Effect.catch((error) =>
        Effect.as(
          Effect.annotateLogs(Effect.logWarning(`setting ${what} of a new WhatsApp group failed`, error), {
            session: id
          }),
          undefined
        )
      )
    )

  const describe = Effect.fnUntraced(function*(created: GroupFacts, description: string) {
    const described = yield* complete(
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
          yield* contacts.storeCheck({ id, phone: number, whatsapp_id })
          return { _tag: "Checked" as const, whatsapp_id }
        })
      ),
    CreateGroup: Effect.fnUntraced(function*({ payload: { description, name, numbers } }) {
      const created = yield* ask((socket) => socket.createGroup({ name, numbers }))
      if ("_tag" in created) return created
      yield* store(created, yield* Clock.currentTimeMillis)
      const [row] = yield* retryWhileUnavailable(groups.ensure(id, [created.jid]))
      // Never the case: the group was stored just now.
      if (row === undefined) return notDone("Unavailable")
      if (description !== null) yield* describe(created, description)
      const code = yield* complete("the invitation link", (socket) => socket.inviteCode(created.jid))
      yield* retryWhileUnavailable(groups.storeInviteCode({ id: row.id, code: code ?? null }))
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

/**
 * Runs on the nodes of the sessions. Requests are concurrent, so that a slow answer does not delay the others. A defect fails
 * its own request: otherwise the cluster would run all requests of the actor again, and WhatsApp would create a group twice.
 */
export const DirectoryActor = drainBeforeClose((track) =>
  DirectoryEntity.toLayer(Effect.andThen(track, make), {
    concurrency: "unbounded",
    maxIdleTime: "1 minute",
    disableFatalDefects: true
  })
).pipe(Layer.provide([ContactsRepo.layer, GroupsRepo.layer]))
