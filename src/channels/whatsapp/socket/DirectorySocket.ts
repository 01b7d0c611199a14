import { type Effect, Schema } from "effect"
import type { SocketFailed } from "./SocketErrors.ts"

/** A member as WhatsApp tells of him; the number where it is known, digits alone. */
export interface GroupMember {
  readonly jid: string
  readonly phone: string | null
  readonly role: "member" | "admin" | "superadmin"
}

/** A group as WhatsApp tells of it. */
export interface GroupFacts {
  readonly jid: string
  readonly name: string
  readonly description: string | null
  /** How its members are named: by hidden number or by phone number. */
  readonly addressing: "lid" | "pn"
  readonly ephemeralSeconds: number | null
  readonly members: ReadonlyArray<GroupMember>
}

/** What is to be done to a group; numbers are digits alone. */
export type GroupChange =
  | { readonly _tag: "Rename"; readonly name: string }
  | { readonly _tag: "Describe"; readonly description: string | null }
  | { readonly _tag: "Add"; readonly numbers: ReadonlyArray<string> }
  | { readonly _tag: "Remove"; readonly numbers: ReadonlyArray<string> }

/** WhatsApp answers that the session may not: it is no admin of the group, or not in it. */
export class GroupRefused extends Schema.TaggedError<GroupRefused>()("GroupRefused", {}) {
  override get message() {
    return "WhatsApp does not let this session do that to the group."
  }
}

/** Whom and what a session knows: asked over a connection that is open. */
export interface DirectorySocket {
  /** The phone number (digits) of a hidden number, as far as the session was told of it. */
  readonly numberOf: (lid: string) => Effect.Effect<string | undefined, SocketFailed>
  /** All groups that the session is in. */
  readonly groups: Effect.Effect<ReadonlyArray<GroupFacts>, SocketFailed>
  /** Fails as refused where there is no such group, or the session is not in it. */
  readonly group: (jid: string) => Effect.Effect<GroupFacts, SocketFailed | GroupRefused>
  readonly createGroup: (
    group: { readonly name: string; readonly numbers: ReadonlyArray<string> }
  ) => Effect.Effect<GroupFacts, SocketFailed | GroupRefused>
  readonly changeGroup: (jid: string, change: GroupChange) => Effect.Effect<void, SocketFailed | GroupRefused>
  /** What an invitation link ends in; only admins are told. */
  readonly inviteCode: (jid: string) => Effect.Effect<string | undefined, SocketFailed | GroupRefused>
}
