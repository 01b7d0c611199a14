import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"

/** Erases an account's emails, batches and suppressions. */
export const emailErasure: ErasureStep = {
  name: "email",
  /** No further recipient is claimed. A mail transaction in flight cannot be stopped. */
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update email_batches set status = 'canceled' where account_id = ${accountId} and completed_at is null`
    yield* sql`update email_messages set status = 'canceled', due_at = null, completed_at = now()
      where account_id = ${accountId} and batch_id is null and status = 'queued'`
  }, Effect.orDie),
  some: eraseRows("email_messages", "email_contents", "email_batches", "suppressions", "plain_refusals")
}
