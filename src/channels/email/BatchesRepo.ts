import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import { EmailAddress } from "../../values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { Batch, BatchRecipient, RecipientStatus } from "./Batch.ts"

const One = Schema.Struct({ accountId: AccountId, batchId: EmailBatchId })

/** A batch as its actor needs it. Addresses were checked when it was accepted, so the columns hold canonical ones. */
export const BatchContent = Schema.Struct({
  id: EmailBatchId,
  account_id: AccountId,
  from_address: Schema.toType(EmailAddress),
  from_name: Schema.NullOr(Schema.String),
  subject: Schema.String,
  html: Schema.String,
  text: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  is_open: Schema.Boolean
})
export type BatchContent = typeof BatchContent.Type

/** A recipient in the hands of its batch's actor. */
export const Claimed = Schema.Struct({
  id: EmailMessageId,
  recipient: Schema.toType(EmailAddress),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  attempt_count: Schema.Int
})
export type Claimed = typeof Claimed.Type

const Filter = Schema.Struct({
  batchId: EmailBatchId,
  status: Schema.NullOr(RecipientStatus),
  limit: Schema.Int,
  offset: Schema.Int
})

/** SQL of `email_batches` and of the recipients in `email_messages`; outcomes are `BatchOutcomes`. */
export const makeBatchesRepo = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columns = sql.literal(`id as batch_id, status, total, total - sent - failed - suppressed - canceled as queued,
    sent, failed, suppressed, canceled, created_at, completed_at`)

  const insertBatch = (row: {
    readonly id: EmailBatchId
    readonly account_id: AccountId
    readonly from_address: string
    readonly from_name: string | null
    readonly subject: string
    readonly html: string
    readonly text: string | null
    readonly total: number
  }) => sql`insert into email_batches ${sql.insert(row)}`

  /** Recipients that the account must not write to are there from the start, as suppressed. */
  const insertRecipients = (
    batch: { readonly id: EmailBatchId; readonly account_id: AccountId },
    recipients: ReadonlyArray<{ readonly to: string; readonly variables: unknown }>
  ) =>
    sql`with added as (
        insert into email_messages (account_id, batch_id, position, recipient, variables, status, completed_at)
        select ${batch.account_id}::bigint, ${batch.id}::text, t.position - 1, t.recipient, t.variables::jsonb,
          case when s.email is null then 'queued' else 'suppressed' end, case when s.email is not null then now() end
        from unnest(${column.text(recipients.map(({ to }) => to))},
          ${column.text(recipients.map(({ variables }) => JSON.stringify(variables)))})
          with ordinality as t (recipient, variables, position)
        left join suppressions s on s.account_id = ${batch.account_id} and s.email = lower(t.recipient)
        order by t.position
        returning status
      )
      update email_batches set suppressed = (select count(*) from added where status = 'suppressed')
      where id = ${batch.id}`

  const find = SqlSchema.findOneOption({
    Request: One,
    Result: Batch,
    execute: ({ accountId, batchId }) =>
      sql`select ${columns} from email_batches where id = ${batchId} and account_id = ${accountId}`
  })

  const matching = ({ batchId, status }: typeof Filter.Encoded) =>
    sql.and([
      sql`batch_id = ${batchId}`,
      ...(status === null ? [] : [status === "queued" ? sql`status in ('queued', 'sending')` : sql`status = ${status}`])
    ])

  const recipients = SqlSchema.findAll({
    Request: Filter,
    Result: BatchRecipient,
    execute: (filter) =>
      sql`select id, recipient as to, case when status = 'sending' then 'queued' else status end as status, attempt_count,
          case when status = 'queued' then due_at end as next_attempt_at, bounce_type, error, sent_at
        from email_messages where ${matching(filter)} order by position limit ${filter.limit} offset ${filter.offset}`
  })

  const countRecipients = SqlSchema.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from email_messages where ${matching(filter)}`
  })

  /** Leaves out whoever is still queued; a batch that has ended stays as it is. */
  const cancel = (batchId: EmailBatchId) =>
    sql`with held as (select id from email_batches where id = ${batchId} and completed_at is null for update),
      canceled as (
        update email_messages m set status = 'canceled', completed_at = now() from held
        where m.batch_id = held.id and m.status = 'queued' returning m.id
      )
      update email_batches b set status = 'canceled', canceled = b.canceled + (select count(*) from canceled)
      from held where b.id = held.id`

  const content = SqlSchema.findOneOption({
    Request: EmailBatchId,
    Result: BatchContent,
    execute: (id) =>
      sql`select id, account_id, from_address, from_name, subject, html, text, created_at, completed_at is null as is_open
        from email_batches where id = ${id}`
  })

  const begin = (id: EmailBatchId) =>
    sql`update email_batches set status = 'processing', started_at = coalesce(started_at, now())
      where id = ${id} and status = 'queued'`

  /** Back to the queue with what this owner held and had not begun to send. */
  const giveBack = (id: EmailBatchId) =>
    sql`update email_messages set status = 'queued', due_at = null where batch_id = ${id} and status = 'sending'`

  /**
   * Back to the queue with what an owner that died held: each may have been sent, so it counts as an ambiguous attempt.
   * One that was in doubt `most` times is given up, so that nothing can make this program write to somebody for ever.
   */
  const takeOver = (id: EmailBatchId, most: number) =>
    sql`with back as (
        update email_messages set attempt_count = attempt_count + 1, due_at = null,
          status = case when attempt_count + 1 < ${most} then 'queued' else 'failed' end,
          error = 'interrupted before the relay had confirmed it',
          completed_at = case when attempt_count + 1 < ${most} then null else now() end
        where batch_id = ${id} and status = 'sending' returning status
      )
      update email_batches set ambiguous = ambiguous + (select count(*) from back),
        failed = failed + (select count(*) from back where status = 'failed')
      where id = ${id} and exists (select from back)`

  const claim = SqlSchema.findAll({
    Request: Schema.Struct({ id: EmailBatchId, limit: Schema.Int }),
    Result: Claimed,
    execute: ({ id, limit }) =>
      sql`with due as (
          select id from email_messages
          where batch_id = ${id} and status = 'queued' and (due_at is null or due_at <= now())
          order by due_at nulls first, id limit ${limit} for update skip locked
        )
        update email_messages m set status = 'sending' from due where m.id = due.id
        returning m.id, m.recipient, m.variables, m.attempt_count`
  })

  /** Milliseconds until the next recipient is due; null when nobody waits. */
  const nextDue = SqlSchema.findOne({
    Request: EmailBatchId,
    Result: Schema.Struct({ millis: Schema.NullOr(Schema.Finite) }),
    execute: (id) =>
      sql`select extract(epoch from min(coalesce(due_at, now())) - now())::float8 * 1000 as millis
        from email_messages where batch_id = ${id} and status = 'queued'`
  })

  /** Ends a batch that nobody is left of: one row the first time, none after that. */
  const complete = SqlSchema.findOneOption({
    Request: EmailBatchId,
    Result: Schema.Struct({
      account_id: AccountId,
      total: Schema.Int,
      sent: Schema.Int,
      failed: Schema.Int,
      suppressed: Schema.Int,
      completed_at: Timestamp
    }),
    execute: (id) =>
      sql`update email_batches set completed_at = now(),
          status = case when status = 'canceled' then 'canceled' when sent > 0 then 'completed' else 'failed' end
        where id = ${id} and completed_at is null and sent + failed + suppressed + canceled = total
        returning account_id, total, sent, failed, suppressed, completed_at`
  })

  /** Batches that should be running for a while and may not be. */
  const neglected = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: EmailBatchId }),
    execute: () =>
      sql`select id from email_batches where completed_at is null and started_at is null
        and created_at < now() - interval '2 seconds' order by created_at limit 1000`
  })

  return {
    insertBatch,
    insertRecipients,
    find,
    recipients,
    countRecipients,
    cancel,
    content,
    begin,
    giveBack,
    takeOver,
    claim,
    nextDue,
    complete,
    neglected
  }
})
