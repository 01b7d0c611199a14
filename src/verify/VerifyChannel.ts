import { Context, type Effect } from "effect"
import type { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import type { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import type { CodeSeed } from "../platform/crypto/oneTimeCode.ts"
import type { PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { AccountId } from "../values/Ids.ts"
import type { CodeWords } from "./codeText.ts"
import type { Recipient } from "./Recipient.ts"
import type { CodeChannel } from "./Verification.ts"
import type { ChannelUnavailable } from "./VerifyErrors.ts"

/** A code that is to be sent. Its text has a mask where the code will stand; the channel fills it in as it hands it over. */
export interface CodeMessage {
  readonly accountId: AccountId
  readonly to: Recipient
  readonly seed: CodeSeed
  readonly words: CodeWords
  /** The site that asks for the code. */
  readonly webDomain: string | null
  /** The WhatsApp session that was asked for. */
  readonly sessionId: number | null
}

/** Why a channel does not take a code; an automatic verification then goes to the next one. */
export type ChannelRefusal =
  | ChannelUnavailable
  | UnsupportedDestination
  | ValidationFailed
  | PlanLimitExceeded
  | EmailQuotaExceeded

/** `arrived` and `failed` are for good. */
export type Fate = "under_way" | "arrived" | "failed"

/** One way to a recipient. A port: `EmailCodes`, `SmsCodes` and `WhatsAppCodes` are its adapters. */
export interface VerifyChannel {
  /** Takes the message on in the transaction in hand, and gives its id; from the commit on the channel sees to it. */
  readonly send: (message: CodeMessage) => Effect.Effect<number, ChannelRefusal>
  /** How far a message is that it took. */
  readonly fateOf: (accountId: AccountId, messageId: number) => Effect.Effect<Fate>
}

/** Every channel by its name. */
export class VerifyChannels extends Context.Service<VerifyChannels, Readonly<Record<CodeChannel, VerifyChannel>>>()(
  "messaging-service/verify/VerifyChannel/VerifyChannels"
) {}
