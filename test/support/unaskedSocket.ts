import { Effect } from "effect"
import type { SessionSocket } from "../../src/channels/whatsapp/socket/WhatsAppSocket.ts"

const unasked = Effect.die("nobody asks this")

/** A connection that tells nothing and that nobody asks anything; tests put in its place what they ask. */
export const unaskedSocket: SessionSocket = {
  next: Effect.never,
  requestPairingCode: () => unasked,
  logOut: unasked,
  chatOf: () => unasked,
  isMember: () => unasked,
  compose: () => unasked,
  relay: () => unasked,
  numberOf: () => unasked,
  groups: unasked,
  group: () => unasked,
  createGroup: () => unasked,
  changeGroup: () => unasked,
  inviteCode: () => unasked
}
