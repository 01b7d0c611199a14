import { Cause, Clock, Effect, Option } from "effect"
import { encrypt } from "../../../platform/crypto/gcm.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import { GroupsRepo } from "../directory/GroupsRepo.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { GroupFacts } from "../socket/DirectorySocket.ts"
import type { GroupMetadata, Person, SessionSocket } from "../socket/WhatsAppSocket.ts"
import { childrenOf, type Stanza } from "../wire/Stanza.ts"
import { Inbox } from "./Inbox.ts"
import { encodePayload, inboxPlace } from "./InboxItem.ts"
import { type InboxEntry, InboxRepo } from "./InboxRepo.ts"

interface Options {
  readonly owned: OwnedSession
  readonly dataKey: Uint8Array
  readonly socket: () => SessionSocket | undefined
  /** Stores the phone numbers of hidden numbers. */
  readonly learn: (people: ReadonlyArray<Person>) => void
}

/** Groups that are requested one by one at the start of a connection. The next connection requests the others. */
const maxMissing = 50

/** How long the end of a connection waits for the database. */
const lastWriteTimeout = "3 seconds"

const peopleIn = ({ members }: GroupFacts): ReadonlyArray<Person> =>
  members.flatMap(({ jid, phone }) =>
    jid.endsWith("@lid") && phone !== null ? [{ lid: jid, phone, name: undefined, isNamed: false }] : []
  )

/** Rows for the inbox, one for each added or removed group of members, so that each change is published once. */
const entriesOf = (stanza: Stanza, { dataKey, owned: { id } }: Options): ReadonlyArray<InboxEntry> => {
  const { attrs } = stanza
  const group = attrs["from"] ?? ""
  return childrenOf(stanza).flatMap((change) => {
    if (change.tag !== "add" && change.tag !== "remove") return []
    const members = childrenOf(change).filter(({ tag }) => tag === "participant").map((member) => member.attrs)
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

/**
 * Keeps the stored groups of a session current, and puts changes of their members into the inbox. WhatsApp sends a change
 * once, so each is stored before WhatsApp is asked about any group, at the latest when the connection ends.
 */
export const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const inbox = yield* Inbox
  const inboxRepo = yield* InboxRepo
  const repo = yield* GroupsRepo

  return Effect.fnUntraced(function*(options: Options) {
    const { learn, owned, socket } = options
    const notifications: Array<Stanza> = []
    const notified = yield* Wakeup.make
    const changed = new Set<string>()
    const isChanged = yield* Wakeup.make
    // Counts the unprocessed notifications of each group, whose stored facts must not be used.
    const stale = new Map<string, number>()

    /** Writes only while this node owns the session. */
    const write = (effect: Effect.Effect<void>) =>
      retryWhileUnavailable(transaction(Effect.gen(function*() {
        if (Option.isSome(yield* inboxRepo.lockSession(owned))) yield* effect
      })))

    const logFailure = (what: string, jid: string) =>
      Effect.catchCauseIf(
        (cause: Cause.Cause<never>) => !Cause.hasInterruptsOnly(cause),
        (cause) => Effect.annotateLogs(Effect.logError(what, cause), { session: owned.id, jid })
      )

    /** Logs a failure, so that one group does not keep others from being stored. */
    const store = (group: GroupFacts, askedAt: number) => {
      learn(peopleIn(group))
      return write(repo.store(owned.id, group, askedAt)).pipe(logFailure("storing a WhatsApp group failed", group.jid))
    }

    /** Reads a group from WhatsApp. A group that refuses the session is marked as left. False if there is no answer. */
    const refresh = Effect.fnUntraced(
      function*(jid: string) {
        const current = socket()
        if (current === undefined) return false
        const seen = stale.get(jid)
        const askedAt = yield* Clock.currentTimeMillis
        const leave = Effect.flatMap(
          retryWhileUnavailable(repo.ensure(owned.id, [jid])),
          (rows) => write(repo.leave(rows.map(({ id }) => id), askedAt))
        )
        const isAnswered = yield* Effect.flatMap(current.group(jid), (group) => store(group, askedAt)).pipe(
          Effect.catchTag("GroupRefused", () => leave),
          Effect.as(true),
          // A send to the group, or the next connection, requests it again.
          Effect.catchTag("SocketFailed", () => Effect.succeed(false))
        )
        if (stale.get(jid) === seen) stale.delete(jid)
        return isAnswered
      },
      Effect.timeoutOption("30 seconds"),
      Effect.map(Option.getOrElse(() => false))
    )

    /** An unanswered list looks like an empty one, so a missing group is not left until WhatsApp refuses it. */
    const refreshMissing = Effect.fnUntraced(function*(jids: ReadonlyArray<string>) {
      for (const jid of jids.slice(0, maxMissing)) if (!(yield* refresh(jid))) return
    })

    const handle = Effect.fnUntraced(function*(stanza: Stanza) {
      const jid = stanza.attrs["from"] ?? ""
      if (!jid.endsWith("@g.us")) return
      const entries = entriesOf(stanza, options)
      const isInviteReset = childrenOf(stanza).some(({ tag }) => tag === "invite")
      yield* write(Effect.andThen(inbox.add(entries), repo.invalidate({ sessionId: owned.id, jid, isInviteReset })))
      changed.add(jid)
      isChanged.signalUnsafe()
    })

    /** A notification that is interrupted stays, because it can be written twice. */
    const handleAll = Effect.gen(function*() {
      for (let stanza = notifications[0]; stanza !== undefined; stanza = notifications[0]) {
        const jid = stanza.attrs["from"] ?? ""
        yield* logFailure("WhatsApp group notification dropped: processing failed", jid)(handle(stanza))
        notifications.shift()
      }
    })

    const refreshChanged = Effect.gen(function*() {
      for (const jid of changed) {
        changed.delete(jid)
        yield* logFailure("reading a changed WhatsApp group failed", jid)(refresh(jid))
      }
    })

    const refreshAll = Effect.gen(function*() {
      const current = socket()
      if (current === undefined) return
      const before = yield* retryWhileUnavailable(repo.jids(owned.id))
      const askedAt = yield* Clock.currentTimeMillis
      const groups = yield* current.groups
      const present = new Set(groups.map(({ jid }) => jid))
      yield* Effect.forEach(groups, (group) => store(group, askedAt), { discard: true })
      yield* refreshMissing(before.map(({ jid }) => jid).filter((jid) => !present.has(jid)))
    }).pipe(Effect.catchTag("SocketFailed", () => Effect.void))

    yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(handleAll, lastWriteTimeout)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(notified.wait(), handleAll)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(isChanged.wait(), refreshChanged)))

    return {
      onNotification: (stanza: Stanza) => {
        const jid = stanza.attrs["from"] ?? ""
        stale.set(jid, (stale.get(jid) ?? 0) + 1)
        notifications.push(stanza)
        notified.signalUnsafe()
      },
      onOpened: Effect.asVoid(Effect.forkScoped(refreshAll)),
      /** The stored facts of a group; undefined if they are stale or unknown. */
      metadata: Effect.fnUntraced(function*(jid: string) {
        if (stale.has(jid)) return undefined
        const found = Option.getOrUndefined(yield* repo.cached({ sessionId: owned.id, jid }))
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
