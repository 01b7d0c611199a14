import { Context, type Effect, Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import type { AccountId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import type { SandboxChannel } from "./SandboxMessage.ts"

/** The faults of each channel, by what the upstream does with the next message. */
export const channelFaults = {
  email: ["email_bounce", "email_defer", "email_hang_up"],
  sms: ["sms_lost"],
  whatsapp: ["whatsapp_offline"]
} as const satisfies Readonly<Record<typeof SandboxChannel.Type, ReadonlyArray<string>>>

/** A fault of a channel. */
export type FaultOf<C extends keyof typeof channelFaults> = (typeof channelFaults)[C][number]

export const FaultName = Schema.Literals([
  ...channelFaults.email,
  ...channelFaults.sms,
  ...channelFaults.whatsapp
]).annotate({
  description: "What happens to the next message: email_bounce: the recipient's server refuses the mail for good. "
    + "email_defer: it refuses one attempt, and the retry arrives. email_hang_up: the relay closes the connection before "
    + "it confirms the mail, and the retry arrives. sms_lost: the provider accepts the text, which never arrives. "
    + "whatsapp_offline: WhatsApp accepts the message, and its phone is offline"
})
export type FaultName = typeof FaultName.Type

/** A fault that no message has used yet. */
export const SandboxFault = Schema.Struct({
  id: Schema.Int,
  fault: FaultName,
  created_at: Timestamp,
  expires_at: Timestamp.annotate({ description: "No message uses it from then on" })
}).annotate({ identifier: "SandboxFault" })
export type SandboxFault = typeof SandboxFault.Type

/** How long a fault waits for its message, so that a test run does not meet those of an earlier one. */
export const faultHours = 1

/** The most faults that an account can have planned. */
export const maxPlanned = 20

/** The account has as many planned faults as it can have. */
export class FaultLimitReached extends Schema.TaggedError<FaultLimitReached>()(
  "FaultLimitReached",
  { limit: Schema.Int },
  wire(409, "fault_limit", 4193)
) {
  override get message() {
    return `${this.limit} faults are planned. Send messages that use them, or delete them first.`
  }
}

/** A port: faults that a test account plans for its next messages. */
export class SandboxFaults extends Context.Service<SandboxFaults, {
  /** Oldest first. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<SandboxFault>>
  readonly plan: (accountId: AccountId, fault: FaultName) => Effect.Effect<SandboxFault, FaultLimitReached>
  /** Deletes all of them. Returns how many there were. */
  readonly clear: (accountId: AccountId) => Effect.Effect<number>
  /**
   * Takes the oldest fault of a channel, if one is planned. No other attempt gets it, also if the caller dies before it
   * has acted on it.
   */
  readonly take: <C extends keyof typeof channelFaults>(
    accountId: AccountId,
    channel: C
  ) => Effect.Effect<FaultOf<C> | undefined>
}>()("messaging-service/messages/SandboxFault/SandboxFaults") {}
