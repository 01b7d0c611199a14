import { Context, Effect } from "effect"
import type { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import type { RecipientStatus } from "../channels/email/recipients/MessageState.ts"
import type { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import type { MessageStatus } from "../messages/Message.ts"
import type { CodeSeed } from "../platform/crypto/oneTimeCode.ts"
import type { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { AccountId } from "../values/Ids.ts"
import type { CodeWords } from "./codeText.ts"
import type { Recipient } from "./Recipient.ts"
import type { CodeChannel } from "./Verification.ts"
import type { ChannelUnavailable } from "./VerifyErrors.ts"

/** A code to send. Its text contains a mask, which the channel replaces with the code just before sending. */
export interface CodeMessage {
  readonly accountId: AccountId
  readonly to: Recipient
  readonly seed: CodeSeed
  readonly words: CodeWords
  /** The site that requests the code. */
  readonly webDomain: string | null
  /** The requested WhatsApp session. */
  readonly sessionId: number | null
}

/** Why a channel does not accept a code. An automatic verification then tries the next one. */
export type ChannelRefusal =
  | ChannelUnavailable
  | UnsupportedDestination
  | ValidationFailed
  | PlanLimitExceeded
  | EmailQuotaExceeded

/** `arrived` and `failed` are final. */
export type CodeDeliveryStatus = "in_flight" | "arrived" | "failed"

const finalStatuses: Readonly<Partial<Record<MessageStatus | RecipientStatus, CodeDeliveryStatus>>> = {
  delivered: "arrived",
  read: "arrived",
  opened: "arrived",
  clicked: "arrived",
  complained: "arrived",
  bounced: "failed",
  failed: "failed",
  suppressed: "failed"
}

/** How far a code has come, by the record of its message. A message without a record has failed. */
export const codeStatusOf = (
  message: Effect.Effect<{ readonly status: MessageStatus | RecipientStatus }, NotFound>
): Effect.Effect<CodeDeliveryStatus> =>
  message.pipe(
    Effect.map(({ status }) => finalStatuses[status] ?? "in_flight"),
    Effect.catchTag("NotFound", () => Effect.succeed("failed" as const))
  )

/** A channel for codes. A port: `EmailCodes`, `SmsCodes` and `WhatsAppCodes` are its adapters. */
export interface VerifyChannel {
  /** Accepts the message in the caller's transaction and returns its id. The channel sends it after the commit. */
  readonly send: (message: CodeMessage) => Effect.Effect<number, ChannelRefusal>
  /** The state of an accepted message. */
  readonly statusOf: (accountId: AccountId, messageId: number) => Effect.Effect<CodeDeliveryStatus>
  /** Takes back a message that still waits, in the caller's transaction. A message that was handed over goes on. */
  readonly withdraw: (messageId: number) => Effect.Effect<unknown>
}

/** All channels by name. */
export class VerifyChannels extends Context.Service<VerifyChannels, Readonly<Record<CodeChannel, VerifyChannel>>>()(
  "messaging-service/verify/VerifyChannel/VerifyChannels"
) {}
