import { DateTime, Effect } from "effect"
import { fromDateTime } from "../../../values/Timestamp.ts"
import type { RecipientRecord } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import type { BatchContent, Claimed } from "./BatchesRepo.ts"
import type { Mailed } from "./BatchMailer.ts"

/** The record of one attempt of a batch's recipient that ends now. */
export const recordOf = (
  { account_id, id: batchId, metadata, tags }: BatchContent,
  { attempt_count, claim_number, id, recipient, unconfirmed_attempts }: Claimed,
  { outcome, subject, transcript }: Mailed
): Effect.Effect<RecipientRecord> =>
  Effect.map(DateTime.now, (now) => ({
    id,
    emailId: id,
    accountId: account_id,
    batchId,
    to: recipient,
    subject,
    labels: { tags, metadata, failover_id: null },
    at: fromDateTime(now),
    claimNumber: claim_number,
    attemptsBefore: attempt_count,
    transcript,
    transition: transition(attempt_count, outcome, unconfirmed_attempts)
  }))
