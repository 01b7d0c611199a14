import { Context, type Effect } from "effect"
import type { Outgoing, SubmitOutcome } from "./SubmitOutcome.ts"

/** Somebody who takes SMS by requests that any node can make: the sandbox, or an aggregator with an HTTP API. A port. */
export class SmsProvider extends Context.Service<SmsProvider, {
  /** As it stands in the rows of parts; receipts name it. */
  readonly name: string
  /** Whether it takes segments, or whole texts and cuts them itself. */
  readonly takes: "segments" | "texts"
  /** Submits under way at once, of one node. */
  readonly width: number
  /** Total: whatever goes wrong is the part's outcome. */
  readonly submit: (part: Outgoing) => Effect.Effect<SubmitOutcome>
}>()("messaging-service/channels/sms/parts/SmsProvider") {}
