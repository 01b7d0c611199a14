import type { MessageId } from "../../../values/Ids.ts"
import type { PhoneNumber } from "../../../values/PhoneNumber.ts"
import type { Encoding } from "../text/segments.ts"

/** A part of an SMS as a provider gets it. */
export interface Outgoing {
  readonly message_id: MessageId
  /** From 1. */
  readonly part_no: number
  /** How many there are; 1 is a whole text, however long. */
  readonly parts: number
  readonly encoding: Encoding
  readonly body: string
  readonly sender: string | null
  readonly recipient: PhoneNumber
  /** 0 is a message of its own, and goes first; 1 is one of a batch. */
  readonly lane: number
}

/** What one attempt to hand a part over came to. */
export type SubmitOutcome =
  /** The provider has it, and knows it by this id. */
  | { readonly _tag: "Accepted"; readonly id: string | null }
  /** The provider will never take it. */
  | { readonly _tag: "Refused"; readonly code: string; readonly reason: string }
  /** The provider did not take it this time, for a reason of the message's own. */
  | { readonly _tag: "PutOff"; readonly code: string; readonly reason: string }
  /** It was not taken, and that is not the message's fault: too many at once, or nobody there. */
  | { readonly _tag: "NotTaken"; readonly reason: string; readonly retryInMillis: number }
  /** It was sent, and whether the provider took it is not known. */
  | { readonly _tag: "Unanswered"; readonly reason: string }
