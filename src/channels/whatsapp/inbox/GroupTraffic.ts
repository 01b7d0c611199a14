import { Clock, Effect, Option, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { encrypt } from "../../../platform/crypto/gcm.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import { makeGroupsRepo } from "../directory/GroupsRepo.ts"
import type { GroupFacts } from "../socket/DirectorySocket.ts"
import type { GroupMetadata, Person, SessionSocket } from "../socket/WhatsAppSocket.ts"
import type { Stanza } from "../wire/Stanza.ts"
import { Inbox } from "./Inbox.ts"
import { elementsOf, encodePayload, inboxPlace } from "./inboxPayload.ts"
import { type InboxEntry, makeInboxRepo } from "./InboxRepo.ts"
import { isDefect } from "./InboxTurns.ts"

interface Options {
  readonly owned: Owned
  readonly dataKey: Uint8Array
  readonly socket: () => SessionSocket | undefined
  /** Takes the numbers of hidden numbers. */
  readonly hear: (people: ReadonlyArray<Person>) => void
}

/** Groups that are asked for by themselves at the beginning of a connection; it is the next one's turn with more. */
const mostMissing = 50

const peopleIn = ({ members }: GroupFacts): ReadonlyArray<Person> =>
  members.flatMap(({ jid, phone }) =>
    jid.endsWith("@lid") && phone !== null ? [{ lid: jid, phone, name: undefined, isNamed: false }] : []
  )

/** Notices of members that came or went; each is a row of the inbox, so that it is told of once. */
const entriesOf = (stanza: Stanza, { dataKey, owned: { id } }: Options): ReadonlyArray<InboxEntry> => {
  const { attrs } = stanza
  const group = attrs["from"] ?? ""
  return elementsOf(stanza).flatMap((change) => {
    if (change.tag !== "add" && change.tag !== "remove") return []
    const members = elementsOf(change).filter(({ tag }) => tag === "participant").map((member) => member.attrs)
    const name = `${change.tag}/${attrs["id"] ?? ""}`
    const payload = encodePayload({ attrs, change: { tag: change.tag, members } })
    return [{
      session_id: id,
      kind: "group" as const,
      chat: group,
      whatsapp_id: name,
      author: null,
      payload: encrypt(dataKey, inboxPlace(id, group, name), payload)
    }]
  })
}

/** Groups of a session: which there are and who is in them, and the news of that. */
export const makeGroupTraffic = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* Inbox
  const inboxRepo = yield* makeInboxRepo
  const repo = yield* makeGroupsRepo

  return Effect.fnUntraced(function*(options: Options) {
    const { hear, owned, socket } = options
    const notifications = yield* Queue.unbounded<Stanza>()
    // What a notification has made old is not used, from the moment that it comes.
    const stale = new Map<string, number>()

    /** As long as this is the owner. */
    const write = <A, E>(effect: Effect.Effect<A, E>) =>
      retryWhileUnavailable(transaction(Effect.orDie(Effect.gen(function*() {
        if (Option.isSome(yield* inboxRepo.hold(owned))) yield* effect
      })))).pipe(Effect.provideService(SqlClient.SqlClient, sql))

    const store = (group: GroupFacts, askedAt: number) => {
      hear(peopleIn(group))
      return write(repo.store(owned.id, group, askedAt))
    }

    /** Reads a group anew; one that the session is not in any more is marked as left. False when there was no answer. */
    const refresh = Effect.fnUntraced(
      function*(jid: string) {
        const asked = socket()
        if (asked === undefined) return false
        const seen = stale.get(jid)
        const left = Effect.flatMap(
          Effect.orDie(repo.ensure(owned.id, [jid])),
          (rows) => write(repo.leave(rows.map(({ id }) => id)))
        )
        const askedAt = yield* Clock.currentTimeMillis
        const isAnswered = yield* Effect.flatMap(asked.group(jid), (group) => store(group, askedAt)).pipe(
          Effect.catchTag("GroupRefused", () => left),
          Effect.as(true),
          // Whoever needs one that could not be asked for asks again.
          Effect.catchTag("SocketFailed", () => Effect.succeed(false))
        )
        if (stale.get(jid) === seen) stale.delete(jid)
        return isAnswered
      },
      Effect.timeoutOption("30 seconds"),
      Effect.map(Option.getOrElse(() => false))
    )

    /** No answer at all looks like one without groups, so none is left because it is missing: each is asked for. */
    const askForMissing = Effect.fnUntraced(function*(jids: ReadonlyArray<string>) {
      for (const jid of jids.slice(0, mostMissing)) if (!(yield* refresh(jid))) return
    })

    const onNotification = Effect.fnUntraced(function*(stanza: Stanza) {
      const jid = stanza.attrs["from"] ?? ""
      if (!jid.endsWith("@g.us")) return
      const entries = entriesOf(stanza, options)
      yield* write(Effect.andThen(inbox.add(entries), repo.forget({ sessionId: owned.id, jid })))
      yield* refresh(jid)
    })

    const onOpened = Effect.gen(function*() {
      const asked = socket()
      if (asked === undefined) return
      const before = yield* retryWhileUnavailable(Effect.orDie(repo.jids(owned.id)))
      const askedAt = yield* Clock.currentTimeMillis
      const groups = yield* asked.groups
      const present = new Set(groups.map(({ jid }) => jid))
      yield* Effect.forEach(groups, (group) => store(group, askedAt), { discard: true })
      yield* askForMissing(before.map(({ jid }) => jid).filter((jid) => !present.has(jid)))
    }).pipe(Effect.catchTag("SocketFailed", () => Effect.void))

    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(notifications), (stanza) =>
      Effect.catchCauseIf(
        onNotification(stanza),
        isDefect,
        (cause) =>
          Effect.annotateLogs(Effect.logError("news of a WhatsApp group were lost", cause), { session: owned.id })
      ))))

    return {
      onNotification: (stanza: Stanza) => {
        const jid = stanza.attrs["from"] ?? ""
        stale.set(jid, (stale.get(jid) ?? 0) + 1)
        Queue.offerUnsafe(notifications, stanza)
      },
      onOpened: Effect.asVoid(Effect.forkScoped(onOpened)),
      metadata: Effect.fnUntraced(function*(jid: string) {
        if (stale.has(jid)) return undefined
        const found = Option.getOrUndefined(yield* Effect.orDie(repo.cached({ sessionId: owned.id, jid })))
        if (found === undefined) return undefined
        const metadata: GroupMetadata = {
          id: found.jid,
          subject: found.name,
          addressingMode: found.addressing,
          participants: found.members.map(({ jid: id, role }) => ({ id, admin: role === "member" ? null : role })),
          ...(found.ephemeral_seconds !== null && { ephemeralDuration: found.ephemeral_seconds })
        }
        return metadata
      })
    }
  })
})
