import { DateTime, Effect } from "effect"
import { fromDateTime } from "../../../values/Timestamp.ts"
import type { RecipientRecord } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import type { BatchContent, Claimed } from "./BatchesRepo.ts"
import type { Mailed } from "./BatchMailer.ts"

/** The record of one attempt of a batch's recipient that ends now. */
export const recordOf = (
  { account_id, id: batchId }: BatchContent,
  { attempt_count, id, recipient, unconfirmed_attempts }: Claimed,
  { outcome, subject }: Mailed
): Effect.Effect<RecipientRecord> =>
  Effect.map(DateTime.now, (now) => ({
    id,
    emailId: id,
    accountId: account_id,
    batchId,
    to: recipient,
    subject,
    at: fromDateTime(now),
    attemptsBefore: attempt_count,
    transition: transition(attempt_count, outcome, unconfirmed_attempts)
  }))
