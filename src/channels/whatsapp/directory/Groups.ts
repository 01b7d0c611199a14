import { Context, Effect, Layer, Option } from "effect"
import { NotFound, ServiceUnavailable, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import type { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PageOf } from "../../../values/Page.ts"
import type { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import type { GroupChange } from "../socket/DirectorySocket.ts"
import { GroupDirectory } from "../socket/MessagePorts.ts"
import { makeContactsRepo } from "./ContactsRepo.ts"
import { Directory } from "./Directory.ts"
import type { NotDone } from "./DirectoryEntity.ts"
import { NotGroupAdmin } from "./DirectoryErrors.ts"
import { type Group, GroupId } from "./Group.ts"
import { makeGroupsRepo } from "./GroupsRepo.ts"

interface Which {
  readonly accountId: AccountId
  readonly id: GroupId
}

/** A group that is to be made. */
export interface GroupWish {
  readonly session_id: WhatsAppSessionId
  readonly name: string
  readonly description?: string | null | undefined
  readonly participants: ReadonlyArray<PhoneNumber>
}

/** What is to be changed of a group. */
export interface GroupChanges {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly add_participants?: ReadonlyArray<PhoneNumber> | undefined
  readonly remove_participants?: ReadonlyArray<PhoneNumber> | undefined
}

type Failure = NotFound | NotGroupAdmin | SessionNotConnected | ServiceUnavailable

const digits = (numbers: ReadonlyArray<PhoneNumber>) => [...new Set(numbers)].map((number) => number.slice(1))

/** In an order in which nobody is locked out: the session may lose its rights by the last one. */
const changesOf = (wanted: GroupChanges): ReadonlyArray<GroupChange> => {
  const { add_participants = [], description, name, remove_participants = [] } = wanted
  return [
    ...(name === undefined ? [] : [{ _tag: "Rename" as const, name }]),
    ...(description === undefined ? [] : [{ _tag: "Describe" as const, description: description || null }]),
    ...(add_participants.length === 0 ? [] : [{ _tag: "Add" as const, numbers: digits(add_participants) }]),
    ...(remove_participants.length === 0 ? [] : [{ _tag: "Remove" as const, numbers: digits(remove_participants) }])
  ]
}

const failed = Effect.fnUntraced(function*({ _tag }: NotDone) {
  switch (_tag) {
    case "NotConnected":
      return yield* new SessionNotConnected({ session_status: "disconnected" })
    case "Refused":
      return yield* new NotGroupAdmin()
    case "Unavailable":
      return yield* new ServiceUnavailable()
  }
})

/** The groups that the sessions of an account are in. */
export class Groups extends Context.Service<Groups, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly session_id?: WhatsAppSessionId },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<Group>>
  /** With its invitation link, where the session can learn it. */
  readonly find: (which: Which) => Effect.Effect<Group, NotFound>
  readonly create: (accountId: AccountId, wish: GroupWish) => Effect.Effect<Group, Failure>
  /** One change after the other; what was done before a refusal stays done. */
  readonly change: (which: Which, changes: GroupChanges) => Effect.Effect<Group, Failure | ValidationFailed>
}>()("messaging-service/channels/whatsapp/directory/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function*() {
      const repo = yield* makeGroupsRepo
      const sessions = yield* makeContactsRepo
      const directory = yield* Directory

      const existing = Effect.fnUntraced(function*(which: Which) {
        const row = yield* Effect.orDie(repo.find(which))
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const located = Effect.fnUntraced(function*(which: Which) {
        const row = yield* Effect.orDie(repo.locate(which))
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      return Groups.of({
        list: Effect.fn("Groups.list")(function*(accountId, { session_id: sessionId = null }, window) {
          const filter = { accountId, sessionId, ...window }
          return { rows: yield* repo.list(filter), total: (yield* repo.count(filter)).total }
        }, Effect.orDie),
        find: Effect.fn("Groups.find")(function*(which) {
          const group = yield* existing(which)
          const { jid, session_id, status } = yield* located(which)
          if (group.invite_link !== null || status !== "connected") return group
          const invite = yield* directory.inviteCode(session_id, jid)
          if (invite._tag !== "Code" || invite.code === null) return group
          yield* Effect.orDie(repo.noteInvite({ id: which.id, code: invite.code }))
          return yield* existing(which)
        }),
        create: Effect.fn("Groups.create")(
          function*(accountId, { description = null, name, participants, session_id }) {
            const session = Option.getOrUndefined(
              yield* Effect.orDie(sessions.asked({ accountId, sessionId: session_id }))
            )
            if (session === undefined) return yield* new NotFound()
            if (session.status !== "connected") {
              return yield* new SessionNotConnected({ session_status: session.status })
            }
            const wish = { name, description: description || null, numbers: digits(participants) }
            const created = yield* directory.createGroup(session.id, wish)
            if (created._tag !== "Created") return yield* failed(created)
            return yield* existing({ accountId, id: GroupId.make(created.id) })
          }
        ),
        change: Effect.fn("Groups.change")(function*(which, wanted) {
          const { jid, phone_number, session_id, status } = yield* located(which)
          const own = wanted.remove_participants?.findIndex((number) => number.slice(1) === phone_number) ?? -1
          if (own >= 0) {
            const message = "is the session's own number: leave the group on its phone"
            return yield* ValidationFailed.of(`remove_participants[${own}]`, message)
          }
          if (status !== "connected") return yield* new SessionNotConnected({ session_status: status })
          const changes = changesOf(wanted)
          if (changes.length > 0) {
            const changed = yield* directory.changeGroup(session_id, jid, changes)
            if (changed._tag !== "Changed") return yield* failed(changed)
          }
          return yield* existing(which)
        })
      })
    })
  )

  /** What messages call a group that the API has a number for. */
  static readonly layerDirectory = Layer.effect(
    GroupDirectory,
    Effect.map(
      makeGroupsRepo,
      ({ jidOf }) => (sessionId: WhatsAppSessionId, id: number) =>
        Effect.map(Effect.orDie(jidOf({ sessionId, id })), (row) => Option.getOrUndefined(row)?.jid)
    )
  )
}
