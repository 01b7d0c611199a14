import { Effect } from "effect"
import type { SessionSocket } from "../../src/channels/whatsapp/socket/WhatsAppSocket.ts"

const unasked = Effect.die("this method is not expected to be called")

/** A silent connection whose methods all die; tests replace those that they expect to be called. */
export const unaskedSocket: SessionSocket = {
  next: Effect.never,
  requestPairingCode: () => unasked,
  logOut: unasked,
  isOpen: () => true,
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
