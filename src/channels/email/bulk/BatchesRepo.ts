import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId, type TemplateId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { storeBodies } from "../request/storeBodies.ts"

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
  is_open: Schema.Boolean,
  track_opens: Schema.Boolean,
  /** The targets of the tracked links. */
  links: Schema.Array(Schema.String)
})
export type BatchContent = typeof BatchContent.Type

/** A recipient that its batch's actor has claimed. */
export const Claimed = Schema.Struct({
  id: EmailMessageId,
  recipient: Schema.toType(EmailAddress),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  attempt_count: Schema.Int,
  /** Attempts that the relay left without an answer to the final dot. */
  unconfirmed_attempts: Schema.Int
})
export type Claimed = typeof Claimed.Type

interface NewRecipients {
  readonly id: EmailBatchId
  readonly account_id: AccountId
  readonly recipients: ReadonlyArray<{ readonly to: string; readonly variables: unknown }>
}

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Large texts of a campaign's batches are stored once. */
  const insertBatch = Effect.fnUntraced(function*(row: {
    readonly id: EmailBatchId
    readonly account_id: AccountId
    readonly from_address: string
    readonly from_name: string | null
    readonly subject: string
    readonly html: string
    readonly text: string | null
    readonly template_id: TemplateId | null
    readonly total: number
    readonly track_opens: boolean
    readonly links: ReadonlyArray<string> | null
  }) {
    const [html, text] = yield* storeBodies(sql, row.account_id, [
      Buffer.from(row.html),
      row.text === null ? null : Buffer.from(row.text)
    ])
    yield* Query.run(
      sql`insert into email_batches ${
        sql.insert({
          ...row,
          html: html === undefined ? row.html : "",
          text: text === undefined ? row.text : null,
          body_day: html?.day ?? text?.day ?? null,
          html_hash: html?.hash ?? null,
          text_hash: text?.hash ?? null,
          links: row.links === null ? null : column.text(row.links)
        })
      }`
    )
  })

  /** Inserts the recipients, suppressed ones as suppressed, and returns how many are queued. */
  const insertRecipients = (batch: NewRecipients) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ queued: Schema.Int }),
      execute: () => recipientsInsertion(batch)
    })()

  const recipientsInsertion = ({ recipients, ...batch }: NewRecipients) =>
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
      where id = ${batch.id} returning total - suppressed as queued`

  /** Cancels a batch unless it has ended. */
  const cancel = (batchId: EmailBatchId) =>
    Query.run(sql`update email_batches set status = 'canceled' where id = ${batchId} and completed_at is null`)

  /** Cancels the recipients that are queued in a canceled batch. */
  const cancelQueued = (batchId: EmailBatchId) =>
    Query.run(sql`with canceled as (
        update email_messages set status = 'canceled', due_at = null, completed_at = now()
        where batch_id = ${batchId} and status = 'queued'
          and exists (select from email_batches where id = ${batchId} and status = 'canceled' and completed_at is null)
        returning id
      )
      update email_batches set canceled = canceled + (select count(*) from canceled)
      where id = ${batchId} and exists (select from canceled)`)

  const content = Query.findOneOption({
    Request: EmailBatchId,
    Result: BatchContent,
    execute: (id) =>
      sql`select b.id, b.account_id, from_address, from_name, subject, created_at, completed_at is null as is_open,
          coalesce(convert_from(h.content, 'UTF8'), html) as html, coalesce(convert_from(t.content, 'UTF8'), text) as text,
          track_opens, coalesce(links, '{}') as links
        from email_batches b
        left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
        left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
        where b.id = ${id}`
  })

  const begin = (id: EmailBatchId) =>
    Query.run(sql`update email_batches set status = 'processing', started_at = coalesce(started_at, now())
      where id = ${id} and status = 'queued'`)

  /** The rows of these claims, `t (id, attempts)`. A row that another owner has reclaimed counts one more attempt. */
  const rowsOf = (claimed: ReadonlyArray<Claimed>) =>
    sql`unnest(${column.int8(claimed.map((row) => row.id))}, ${column.int4(claimed.map((row) => row.attempt_count))})
      as t (id, attempts)`

  /** Returns recipients to the queue that this owner claimed but did not start. */
  const releaseClaims = (id: EmailBatchId, claimed: ReadonlyArray<Claimed>) =>
    Query.run(sql`update email_messages m set status = 'queued', due_at = null from ${rowsOf(claimed)}
      where m.id = t.id and m.batch_id = ${id} and m.status = 'sending' and m.attempt_count = t.attempts`)

  /** Renews claims and answers with the renewed ones. Skips locked rows: their outcome is being written. */
  const renewClaims = (id: EmailBatchId, claimed: ReadonlyArray<Claimed>) => {
    const renewed = Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: EmailMessageId }),
      execute: () =>
        sql`with mine as (
            select m.id from email_messages m, ${rowsOf(claimed)}
            where m.id = t.id and m.batch_id = ${id} and m.status = 'sending' and m.attempt_count = t.attempts
            for update of m skip locked
          )
          update email_messages m set due_at = now() from mine where m.id = mine.id returning m.id`
    })()
    return Effect.map(renewed, (rows) => {
      const kept = new Set(rows.map((row) => row.id))
      return claimed.filter((row) => kept.has(row.id))
    })
  }

  /**
   * Returns recipients to the queue whose claim by another owner is older than `after`. Each may have been sent, so it
   * counts as an ambiguous attempt; the higher count voids that owner's outcome. A recipient fails after `maxAttempts`,
   * so that no fault can make this program email someone endlessly.
   */
  const reclaimExpired = (options: {
    readonly id: EmailBatchId
    readonly maxAttempts: number
    readonly claimed: ReadonlyArray<EmailMessageId>
    readonly after: Duration.Duration
  }) =>
    Query.run(sql`with back as (
        update email_messages set attempt_count = attempt_count + 1, due_at = null,
          status = case when attempt_count + 1 < ${options.maxAttempts} then 'queued' else 'failed' end,
          error = 'interrupted before the relay had confirmed it',
          completed_at = case when attempt_count + 1 < ${options.maxAttempts} then null else now() end
        where batch_id = ${options.id} and status = 'sending' and id <> all(${column.int8(options.claimed)})
          and coalesce(due_at <= now() - ${Duration.toMillis(options.after)} * interval '1 millisecond', true)
        returning status
      )
      update email_batches set ambiguous = ambiguous + (select count(*) from back),
        failed = failed + (select count(*) from back where status = 'failed')
      where id = ${options.id} and exists (select from back)`)

  /**
   * Claims due recipients: their status becomes `sending`, and `due_at` the time of the claim. Claims none of a canceled
   * batch. An address that was suppressed meanwhile becomes suppressed.
   */
  const claim = Query.findAll({
    Request: Schema.Struct({ id: EmailBatchId, limit: Schema.Int }),
    Result: Claimed,
    execute: ({ id, limit }) =>
      sql`with due as (
          select m.id, exists (select from suppressions s where s.account_id = m.account_id and s.email = lower(m.recipient))
            as is_suppressed
          from email_messages m
          where m.batch_id = ${id} and m.status = 'queued' and (m.due_at is null or m.due_at <= now())
            and exists (select from email_batches where id = ${id} and status <> 'canceled')
          order by m.due_at nulls first, m.id limit ${limit} for update of m skip locked
        ), suppressed as (
          update email_messages m set status = 'suppressed', due_at = null, completed_at = now()
          from due where m.id = due.id and due.is_suppressed returning m.id
        ), counted as (
          update email_batches set suppressed = suppressed + (select count(*) from suppressed)
          where id = ${id} and exists (select from suppressed)
        )
        update email_messages m set status = 'sending', due_at = now() from due
        where m.id = due.id and not due.is_suppressed
        returning m.id, m.recipient, m.variables, m.attempt_count,
          m.doubts as unconfirmed_attempts`
  })

  /** Reads whether the batch is open, the milliseconds until its next recipient is due, and how many are being sent. */
  const progress = Query.findOne({
    Request: EmailBatchId,
    Result: Schema.Struct({ is_open: Schema.Boolean, millis: Schema.NullOr(Schema.Finite), sending: Schema.Int }),
    execute: (id) =>
      sql`select exists (select from email_batches where id = ${id} and completed_at is null) as is_open,
          (select extract(epoch from min(coalesce(due_at, now())) - now())::float8 * 1000 from email_messages
            where batch_id = ${id} and status = 'queued') as millis,
          (select count(*) from email_messages where batch_id = ${id} and status = 'sending') as sending`
  })

  /** Ends a batch whose recipients have all ended. Returns one row the first time, and none after that. */
  const complete = Query.findOneOption({
    Request: EmailBatchId,
    Result: Schema.Struct({
      account_id: AccountId,
      total: Schema.Int,
      sent: Schema.Int,
      failed: Schema.Int,
      suppressed: Schema.Int,
      canceled: Schema.Int,
      completed_at: Timestamp
    }),
    execute: (id) =>
      sql`update email_batches set completed_at = now(),
          status = case when status = 'canceled' then 'canceled' when sent > 0 then 'completed' else 'failed' end
        where id = ${id} and completed_at is null and sent + failed + suppressed + canceled = total
        returning account_id, total, sent, failed, suppressed, canceled, completed_at`
  })

  /**
   * Finds batches that have stalled for two seconds: not started; or started, with no recipient in `sending` and one due,
   * or with none left. A recipient that stays in `sending` for two minutes may be orphaned and does not count.
   */
  const findStalled = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: EmailBatchId, has_begun: Schema.Boolean }),
    execute: () =>
      sql`select id, started_at is not null as has_begun from email_batches b
        where completed_at is null and coalesce(started_at, created_at) < now() - interval '2 seconds'
          and not exists (select from email_messages m where m.batch_id = b.id and m.status = 'sending'
            and m.due_at > now() - interval '2 minutes')
          and coalesce((select min(coalesce(m.due_at, '-infinity')) from email_messages m
            where m.batch_id = b.id and m.status = 'queued') < now() - interval '2 seconds', true)
        order by created_at limit 1000`
  })

  return {
    insertBatch,
    insertRecipients,
    cancel,
    cancelQueued,
    content,
    begin,
    releaseClaims,
    renewClaims,
    reclaimExpired,
    claim,
    progress,
    complete,
    findStalled
  }
})

/**
 * SQL of `email_batches` and of their recipients in `email_messages`. `RecipientOutcomes` records the outcomes.
 */
export class BatchesRepo
  extends Context.Service<BatchesRepo>()("messaging-service/channels/email/bulk/BatchesRepo", { make })
{
  static readonly layer = Layer.effect(BatchesRepo, make)
}
