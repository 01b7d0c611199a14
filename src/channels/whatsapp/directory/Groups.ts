import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound, ServiceUnavailable, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import type { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PageOf, Window } from "../../../values/Page.ts"
import type { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import type { GroupChange } from "../socket/DirectorySocket.ts"
import { GroupDirectory } from "../socket/MessageTraffic.ts"
import { ContactsRepo } from "./ContactsRepo.ts"
import { Directory } from "./Directory.ts"
import type { NotDone } from "./DirectoryEntity.ts"
import { type Group, GroupId, NotGroupAdmin } from "./Group.ts"
import { GroupsRepo } from "./GroupsRepo.ts"

interface Which {
  readonly accountId: AccountId
  readonly id: GroupId
}

/** A group to create. */
export interface NewGroup {
  readonly session_id: WhatsAppSessionId
  readonly name: string
  readonly description?: string | null | undefined
  readonly participants: ReadonlyArray<PhoneNumber>
}

/** The changes of a group. */
export interface GroupChanges {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly add_participants?: ReadonlyArray<PhoneNumber> | undefined
  readonly remove_participants?: ReadonlyArray<PhoneNumber> | undefined
}

type Failure = NotFound | NotGroupAdmin | SessionNotConnected | ServiceUnavailable

const digits = (numbers: ReadonlyArray<PhoneNumber>) => [...new Set(numbers)].map((number) => number.slice(1))

/** Removals come last, because the session may lose its rights by them. */
const changesOf = (wanted: GroupChanges): ReadonlyArray<GroupChange> => {
  const { add_participants = [], description, name, remove_participants = [] } = wanted
  return [
    ...(name === undefined ? [] : [{ _tag: "Rename" as const, name }]),
    ...(description === undefined ? [] : [{ _tag: "Describe" as const, description: description || null }]),
    ...(add_participants.length === 0 ? [] : [{ _tag: "Add" as const, numbers: digits(add_participants) }]),
    ...(remove_participants.length === 0 ? [] : [{ _tag: "Remove" as const, numbers: digits(remove_participants) }])
  ]
}

const refuse = Effect.fnUntraced(function*({ _tag }: NotDone) {
  switch (_tag) {
    case "NotConnected":
      return yield* new SessionNotConnected({ session_status: "disconnected" })
    case "Refused":
      return yield* new NotGroupAdmin()
    case "Unavailable":
      return yield* new ServiceUnavailable()
  }
})

/** The groups of an account's sessions. */
export class Groups extends Context.Service<Groups, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly session_id?: WhatsAppSessionId },
    window: Window
  ) => Effect.Effect<PageOf<Group>>
  /** The group, with its invitation link if WhatsApp shows it to the session. */
  readonly find: (which: Which) => Effect.Effect<Group, NotFound>
  readonly create: (accountId: AccountId, group: NewGroup) => Effect.Effect<Group, Failure>
  /** Makes one change after the other. A refusal does not undo the earlier ones. */
  readonly change: (which: Which, changes: GroupChanges) => Effect.Effect<Group, Failure | ValidationFailed>
}>()("messaging-service/channels/whatsapp/directory/Groups") {
  static readonly layer = Layer.effect(
    Groups,
    Effect.gen(function*() {
      const repo = yield* GroupsRepo
      const contacts = yield* ContactsRepo
      const directory = yield* Directory

      const existing = Effect.fnUntraced(function*(which: Which) {
        const row = yield* repo.find(which)
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const located = Effect.fnUntraced(function*(which: Which) {
        const row = yield* repo.locate(which)
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      return Groups.of({
        list: Effect.fn("Groups.list")((accountId, { session_id: sessionId = null }, window) =>
          Query.windowOf(repo, { accountId, sessionId, ...window })
        ),
        find: Effect.fn("Groups.find")(function*(which) {
          const group = yield* existing(which)
          const { jid, session_id, status } = yield* located(which)
          if (group.invite_link !== null || status !== "connected") return group
          const invite = yield* directory.inviteCode(session_id, jid)
          if (invite._tag !== "Code" || invite.code === null) return group
          yield* repo.storeInviteCode({ id: which.id, code: invite.code })
          return yield* existing(which)
        }),
        create: Effect.fn("Groups.create")(
          function*(accountId, { description = null, name, participants, session_id }) {
            const session = Option.getOrUndefined(
              yield* contacts.findSession({ accountId, sessionId: session_id })
            )
            if (session === undefined) return yield* new NotFound({ param: "session_id" })
            if (session.status !== "connected") {
              return yield* new SessionNotConnected({ session_status: session.status })
            }
            const group = { name, description: description || null, numbers: digits(participants) }
            const created = yield* directory.createGroup(session.id, group)
            if (created._tag !== "Created") return yield* refuse(created)
            return yield* existing({ accountId, id: GroupId.make(created.id) })
          }
        ),
        change: Effect.fn("Groups.change")(function*(which, wanted) {
          const { jid, phone_number, session_id, status } = yield* located(which)
          const own = wanted.remove_participants?.findIndex((number) => number.slice(1) === phone_number) ?? -1
          if (own >= 0) {
            const message = "must not be the session's own number; leave the group on its phone"
            return yield* ValidationFailed.of(`remove_participants[${own}]`, message)
          }
          if (status !== "connected") return yield* new SessionNotConnected({ session_status: status })
          const changes = changesOf(wanted)
          if (changes.length > 0) {
            const changed = yield* directory.changeGroup(session_id, jid, changes)
            if (changed._tag !== "Changed") return yield* refuse(changed)
          }
          return yield* existing(which)
        })
      })
    })
  ).pipe(Layer.provide([GroupsRepo.layer, ContactsRepo.layer]))

  /** Finds the WhatsApp ids of groups, for sending to them. */
  static readonly layerDirectory = Layer.effect(
    GroupDirectory,
    Effect.map(
      GroupsRepo,
      ({ jidOf }) =>
        GroupDirectory.of({
          find: (sessionId, id) => Effect.map(jidOf({ sessionId, id }), (row) => Option.getOrUndefined(row)?.jid)
        })
    )
  ).pipe(Layer.provide(GroupsRepo.layer))
}
