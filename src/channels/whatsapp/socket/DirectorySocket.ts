import { Duration, type Effect } from "effect"
import type { GroupRefused, SocketFailed } from "./SocketErrors.ts"

/** The longest time that a request waits for WhatsApp. */
export const requestTimeout = Duration.seconds(20)

/** A member of a group as WhatsApp describes it. */
export interface GroupMember {
  readonly jid: string
  /** Digits only. Null while the number is unknown. */
  readonly phone: string | null
  readonly role: "member" | "admin" | "superadmin"
}

/** A group as WhatsApp describes it. */
export interface GroupFacts {
  readonly jid: string
  readonly name: string
  readonly description: string | null
  /** Whether the group names its members by hidden number or by phone number. */
  readonly addressing: "lid" | "pn"
  readonly ephemeralSeconds: number | null
  readonly members: ReadonlyArray<GroupMember>
}

/** A change to a group. Numbers are digits only. */
export type GroupChange =
  | { readonly _tag: "Rename"; readonly name: string }
  | { readonly _tag: "Describe"; readonly description: string | null }
  | { readonly _tag: "Add"; readonly numbers: ReadonlyArray<string> }
  | { readonly _tag: "Remove"; readonly numbers: ReadonlyArray<string> }

/** Requests about people and groups over an open connection. */
export interface DirectorySocket {
  /** The phone number (digits) of a hidden number, if the session knows it. */
  readonly numberOf: (lid: string) => Effect.Effect<string | undefined, SocketFailed>
  /** All groups of the session. */
  readonly groups: Effect.Effect<ReadonlyArray<GroupFacts>, SocketFailed>
  /** Fails as refused if the group does not exist or the session is not a member. */
  readonly group: (jid: string) => Effect.Effect<GroupFacts, SocketFailed | GroupRefused>
  readonly createGroup: (
    group: { readonly name: string; readonly numbers: ReadonlyArray<string> }
  ) => Effect.Effect<GroupFacts, SocketFailed | GroupRefused>
  readonly changeGroup: (jid: string, change: GroupChange) => Effect.Effect<void, SocketFailed | GroupRefused>
  /** The last part of the invitation link. Only admins may ask. */
  readonly inviteCode: (jid: string) => Effect.Effect<string | undefined, SocketFailed | GroupRefused>
}
