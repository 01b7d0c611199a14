import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { repository } from "../../../platform/database/repository.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../bulk/Batch.ts"
import type { Advanced } from "./MessageState.ts"
import { subjectOf } from "./subjectOf.ts"

const Row = Schema.Struct({
  id: EmailMessageId,
  account_id: AccountId,
  batch_id: Schema.NullOr(EmailBatchId),
  recipient: Schema.String,
  status: Schema.Union([RecipientStatus, Schema.Literal("sending")]),
  /** The record of an email that has several recipients, else the message itself. */
  email_id: EmailMessageId,
  subject: Schema.NullOr(Schema.String),
  /** The relay was known to have it. */
  was_sent: Schema.Boolean,
  /** What a batch's subjects are rendered from. */
  batch_subject: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown)
})

/** What all events of a message carry. A batch's subject is a template, that of an email of its own is as it was sent. */
export const emailOf = (row: typeof Row.Type) => ({
  id: row.email_id,
  batch_id: row.batch_id,
  to: row.recipient,
  subject: row.batch_subject === null ? row.subject ?? "" : subjectOf(row.batch_subject, row.variables)
})

/** SQL of what is learnt of a message after it was handed over. */
export const makeMessageNewsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** The message, held until the transaction ends. */
  const lock = SqlSchema.findOneOption({
    Request: EmailMessageId,
    Result: Row,
    execute: (id) =>
      sql`select m.id, m.account_id, m.batch_id, m.recipient, m.status, m.variables, m.sent_at is not null as was_sent,
          b.subject as batch_subject,
          coalesce(m.part_of, m.id) as email_id,
          coalesce(m.subject, (select e.subject from email_messages e where e.id = m.part_of)) as subject
        from email_messages m left join email_batches b on b.id = m.batch_id where m.id = ${id} for update of m`
  })

  /**
   * Writes what the news make of a message. One that was still being sent is settled by that: its sender writes only
   * rows that are in `sending`, so what it still learns changes nothing.
   */
  const advance = (id: EmailMessageId, change: {
    readonly advanced: Advanced
    readonly at: Timestamp
    readonly bounce?: { readonly bounceType: "hard" | "soft"; readonly error: string } | undefined
  }) => {
    const { advanced: { status }, at, bounce } = change
    return sql`update email_messages set status = ${status},
        attempt_count = attempt_count + case when status = 'sending' then 1 else 0 end,
        bounce_type = ${bounce === undefined ? sql`bounce_type` : sql`${bounce.bounceType}`},
        error = ${bounce === undefined ? sql`error` : sql`${bounce.error}`},
        sent_at = coalesce(sent_at, ${at}::timestamptz),
        delivered_at = ${status === "delivered" ? sql`${at}::timestamptz` : sql`delivered_at`},
        completed_at = coalesce(completed_at, ${at}::timestamptz), due_at = null
      where id = ${id}`
  }

  /** A message of a batch that counted as queued until now. */
  const countSent = (batchId: EmailBatchId) => sql`update email_batches set sent = sent + 1 where id = ${batchId}`

  return { lock, advance, countSent }
}))
