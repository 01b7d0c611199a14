import { Context, type Effect, type Option, Schema } from "effect"
import { wire } from "../../platform/http/ApiError.ts"
import type { AccountId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** Its address is this path and the secret of an account. */
export const receiverPath = "/sandbox/receiver"

/**
 * How long it answers 500, unless it is switched back. The last of the four attempts of a delivery follows the first by 155
 * seconds, so a shorter time would make no delivery fail for good.
 */
export const failingMinutes = 5

/**
 * The receiver of an account: webhooks post to it, and it answers 204 or, on demand, 500. A webhook at it is unhealthy after
 * one failed delivery.
 */
export const SandboxReceiver = Schema.Struct({
  url: Schema.String.annotate({ description: "The URL for a webhook. Its last part is a secret of the account" }),
  failing_until: Schema.NullOr(Timestamp).annotate({
    description: "It answers 500 until this time; null while it answers 204"
  })
}).annotate({ identifier: "SandboxReceiver" })
export type SandboxReceiver = typeof SandboxReceiver.Type

/** This node has no receiver, or no webhook may post to it. */
export class SandboxClosed extends Schema.TaggedError<SandboxClosed>()(
  "SandboxClosed",
  {},
  wire(404, "sandbox_closed", 4043)
) {
  override get message() {
    return "The sandbox is closed here, so it has no webhook receiver. Use the URL of your application."
  }
}

/** A port: the receivers of the sandbox. */
export class SandboxReceivers extends Context.Service<SandboxReceivers, {
  /** The account's receiver; none where the sandbox is closed. */
  readonly find: (accountId: AccountId) => Effect.Effect<Option.Option<SandboxReceiver>>
  /** Makes it answer 500 for {@link failingMinutes} from now on, or 204 again. */
  readonly change: (accountId: AccountId, failing: boolean) => Effect.Effect<Option.Option<SandboxReceiver>>
  /** The status of the answer to a request with this secret. None for an unknown secret. */
  readonly statusFor: (secret: string) => Effect.Effect<Option.Option<204 | 500>>
}>()("messaging-service/webhooks/endpoint/SandboxReceiver/SandboxReceivers") {}
