import { Context, type Effect } from "effect"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import type { MessageId } from "../../../values/Ids.ts"
import type { PhoneNumber } from "../../../values/PhoneNumber.ts"
import type { Encoding } from "../text/segments.ts"

/** The lanes of parts, by urgency: one-time codes, other single messages, and messages of batches. */
export const lanes = { code: 0, single: 1, batch: 2 } as const

/** A part of an SMS as a provider gets it. */
export interface OutgoingPart {
  readonly message_id: MessageId
  /** 1 is the first. */
  readonly part_no: number
  /** How many parts the message has. A single part is the whole text, however long. */
  readonly parts: number
  readonly encoding: Encoding
  readonly body: string
  readonly sender: string | null
  readonly recipient: PhoneNumber
  readonly lane: number
  /** 0 for messages of older versions. */
  readonly account_id: number
}

/** The outcome of one submit. */
export type SubmitOutcome =
  /** The provider has the part, under this id. */
  | { readonly _tag: "Accepted"; readonly id: string | null }
  /** The provider will never accept the part. */
  | { readonly _tag: "Refused"; readonly code: string; readonly reason: string }
  /** The provider did not accept this part now, but may later. */
  | { readonly _tag: "Deferred"; readonly code: string; readonly reason: string }
  /** The provider accepts no part now: it throttles, or it is unreachable. */
  | { readonly _tag: "Unavailable"; readonly reason: string; readonly retryInMillis: number }
  /** The submit was sent, and it is unknown whether the provider has accepted the part. */
  | { readonly _tag: "Unconfirmed"; readonly reason: string }

/** Submits a part. It never fails: every failure is an outcome. It asks the lease right before the request leaves. */
export type Submit = (part: OutgoingPart, lease: Lease) => Effect.Effect<SubmitOutcome>

/** A later report of a provider about a part that it accepted. Only a final status makes a receipt. */
export interface Receipt {
  readonly provider: string
  readonly provider_message_id: string
  readonly state: "delivered" | "failed"
  readonly error_code: string | null
  readonly error_message: string | null
}

/** A port: a provider that every node can reach by requests, which is the sandbox or an aggregator with an HTTP API. */
export class SmsProvider extends Context.Service<SmsProvider, {
  /** The name in the rows of parts, and in receipts. */
  readonly name: string
  /** Whether it accepts segments, or splits whole texts itself. */
  readonly takes: "segments" | "texts"
  /** The most submits of one node in flight. */
  readonly concurrency: number
  readonly submit: Submit
}>()("messaging-service/channels/sms/parts/SmsProvider") {}

/** A port: the provider of test messages, which is the sandbox on every node. */
export class TestSmsProvider extends Context.Service<TestSmsProvider, SmsProvider["Service"]>()(
  "messaging-service/channels/sms/parts/SmsProvider/TestSmsProvider"
) {}
