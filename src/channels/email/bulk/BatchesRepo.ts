import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import { acceptedBy, firstStatus, type Sending } from "../../../messages/sendFields.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { keptClaims } from "../../../platform/work/Claims.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId, type TemplateId } from "../../../values/Ids.ts"
import { labels } from "../../../values/Labels.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { interrupted } from "../recipients/RecipientState.ts"
import { storeBodies } from "../request/storeBodies.ts"
import { WaitingBatch } from "./batchTurns.ts"

/** The HTML of a batch that has only a text. No request has an empty HTML. */
export const noHtml = ""

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
  send_at: Schema.NullOr(Timestamp),
  is_open: Schema.Boolean,
  track_opens: Schema.Boolean,
  /** The targets of the tracked links. */
  links: Schema.Array(Schema.String),
  headers: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  ...labels
})
export type BatchContent = typeof BatchContent.Type

/** A recipient that its batch's actor has claimed. */
export const Claimed = Schema.Struct({
  id: EmailMessageId,
  recipient: Schema.toType(EmailAddress),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  attempt_count: Schema.Int,
  /** Which claim of the recipient this is. */
  claim_number: Schema.Int,
  /** Attempts that the relay left without an answer to the final dot. */
  unconfirmed_attempts: Schema.Int,
  /** The account has suppressed the address since it accepted the batch. */
  is_suppressed: Schema.Boolean
})
export type Claimed = typeof Claimed.Type

/** A new batch with its recipients. `isClaimed`: this node sends them at once. */
export interface NewBatchRow {
  readonly id: EmailBatchId
  readonly account_id: AccountId
  /** The shard of its actor. */
  readonly shard: number
  readonly is_small: boolean
  readonly from_address: string
  readonly from_name: string | null
  readonly subject: string
  readonly html: string
  readonly text: string | null
  readonly template_id: TemplateId | null
  readonly track_opens: boolean
  readonly links: ReadonlyArray<string> | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly sending: Sending
  readonly recipients: ReadonlyArray<{ readonly to: EmailAddress; readonly variables: Claimed["variables"] }>
  readonly isClaimed: boolean
}

const Inserted = Schema.Struct({
  queued: Schema.Int,
  created_at: Timestamp,
  message_id: Schema.NullOr(EmailMessageId),
  position: Schema.NullOr(Schema.Int)
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /**
   * Inserts a batch and its recipients, suppressed ones as suppressed. With `isClaimed` the others are claimed at once by
   * this node, and returned. Large texts of a campaign's batches are stored once.
   */
  const insert = Effect.fnUntraced(function*({ isClaimed, recipients, ...batch }: NewBatchRow) {
    // Shared bodies are kept for a day or two, which is not enough for a scheduled batch.
    const [html, text] = batch.sending.sendAt !== null ? [] : yield* storeBodies(sql, batch.account_id, [
      Buffer.from(batch.html),
      batch.text === null ? null : Buffer.from(batch.text)
    ])
    const { account_id, from_address, from_name, id, is_small, links, shard, subject, template_id, track_opens } = batch
    const { headers, sending: { metadata, sendAt, tags } } = batch
    const status = firstStatus(batch.sending)
    const given = sql`${sendAt}::timestamptz, ${column.text(tags)}::text[], ${JSON.stringify(metadata)}::jsonb`
    // `due_at` is the time of the claim: that of the statement, as the transaction may have begun long before.
    const inserted = Query.findAll({
      Request: Schema.Void,
      Result: Inserted,
      execute: () =>
        sql`with added as (
            insert into email_messages (account_id, batch_id, position, recipient, variables, status, due_at, completed_at,
              send_at, tags, metadata)
            select ${account_id}::bigint, ${id}::text, t.position - 1, t.recipient, t.variables::jsonb,
              case when s.email is not null then 'suppressed' when ${isClaimed} then 'sending' else ${status} end,
              case when s.email is null and ${isClaimed} then clock_timestamp() end,
              case when s.email is not null then now() end, ${given}
            from unnest(${column.text(recipients.map(({ to }) => to))},
              ${column.text(recipients.map(({ variables }) => JSON.stringify(variables)))})
              with ordinality as t (recipient, variables, position)
            left join suppressions s on s.account_id = ${account_id} and s.email = lower(t.recipient)
            order by t.position
            returning id, position, status
          ), batch as (
            insert into email_batches (id, account_id, shard, is_small, from_address, from_name, subject, html, text, template_id,
              total, track_opens, links, body_day, html_hash, text_hash, status, started_at, headers, send_at,
              tags, metadata, accepted_by, suppressed)
            select ${id}, ${account_id}, ${shard}, ${is_small}, ${from_address}, ${from_name}, ${subject},
              ${html === undefined ? batch.html : ""}, ${text === undefined ? batch.text : null}, ${template_id},
              ${recipients.length}, ${track_opens}, ${links === null ? null : column.text(links)},
              ${html?.day ?? text?.day ?? null}::date, ${html?.hash ?? null}::bytea, ${text?.hash ?? null}::bytea,
              case when ${isClaimed} then 'processing' else ${status} end, case when ${isClaimed} then now() end,
              ${headers === null ? null : JSON.stringify(headers)}::jsonb, ${given},
              ${acceptedBy(batch.sending)}::jsonb, (select count(*) from added where status = 'suppressed')
            returning total - suppressed as queued, created_at
          )
          select b.queued, b.created_at, a.id as message_id, a.position
          from batch b left join added a on a.status = 'sending'`
    })
    const rows = yield* inserted()
    const claimed = rows.flatMap(({ message_id, position }): ReadonlyArray<Claimed> => {
      const recipient = position === null ? undefined : recipients[position]
      if (recipient === undefined || message_id === null) return []
      const { to, variables } = recipient
      return [{
        id: message_id,
        recipient: to,
        variables,
        attempt_count: 0,
        claim_number: 0,
        unconfirmed_attempts: 0,
        is_suppressed: false
      }]
    })
    const [first] = rows
    if (first === undefined) return yield* Effect.die("an inserted batch has no row")
    return { queued: first.queued, createdAt: first.created_at, claimed }
  })

  /** Cancels a batch unless it has ended. */
  const cancel = (batchId: EmailBatchId) =>
    Query.run(sql`update email_batches set status = 'canceled' where id = ${batchId} and completed_at is null`)

  /** Cancels the recipients that are queued or scheduled in a canceled batch. */
  const cancelQueued = Query.findOneOption({
    Request: EmailBatchId,
    Result: Schema.Struct({ account_id: AccountId, created_at: Timestamp, count: Schema.Int }),
    execute: (batchId) =>
      sql`with canceled as (
          update email_messages set status = 'canceled', due_at = null, completed_at = now()
          where batch_id = ${batchId} and status in ('scheduled', 'queued')
            and exists (select from email_batches where id = ${batchId} and status = 'canceled' and completed_at is null)
          returning id
        )
        update email_batches set canceled = canceled + (select count(*) from canceled)
        where id = ${batchId} and exists (select from canceled)
        returning account_id, created_at, (select count(*) from canceled) as count`
  })

  const contents = Query.findAll({
    Request: Schema.Array(EmailBatchId),
    Result: BatchContent,
    execute: (ids) =>
      sql`select b.id, b.account_id, from_address, from_name, subject, coalesce(send_at, created_at) as created_at, send_at, completed_at is null as is_open,
          coalesce(convert_from(h.content, 'UTF8'), html) as html, coalesce(convert_from(t.content, 'UTF8'), text) as text,
          track_opens, coalesce(links, '{}') as links, headers, tags, metadata
        from email_batches b
        left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
        left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
        where b.id = any(${column.text(ids)})`
  })

  /** The rows of these claims, `t (id, claims)`. Each claim of a recipient has the next number. */
  const rowsOf = (claimed: ReadonlyArray<Claimed>) =>
    sql`unnest(${column.int8(claimed.map((row) => row.id))}, ${column.int4(claimed.map((row) => row.claim_number))})
      as t (id, claims)`

  /** Returns recipients to the queue that this owner claimed but did not start. */
  const releaseClaims = (claimed: ReadonlyArray<Claimed>) =>
    Query.run(sql`update email_messages m set status = 'queued', due_at = null from ${rowsOf(claimed)}
      where m.id = t.id and m.status = 'sending' and m.claims = t.claims`)

  /** Renews claims and answers with the renewed ones. Skips locked rows: their outcome is being written. */
  const renewClaims = <C extends Claimed>(claimed: ReadonlyArray<C>) => {
    const renewed = Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: EmailMessageId, claim_number: Schema.Int }),
      execute: () =>
        sql`with mine as (
            select m.id from email_messages m, ${rowsOf(claimed)}
            where m.id = t.id and m.status = 'sending' and m.claims = t.claims
            for update of m skip locked
          )
          update email_messages m set due_at = now() from mine where m.id = mine.id
          returning m.id, m.claims as claim_number`
    })()
    return Effect.map(renewed, (rows) => keptClaims(claimed, rows, (row) => `${row.id}.${row.claim_number}`))
  }

  /**
   * Returns recipients to the queue whose claim by another owner is older than `after`. Each may have been sent, so it
   * counts as an ambiguous attempt. A recipient fails after `maxAttempts`, so that no fault can make this program email
   * someone endlessly. Answers with those that failed.
   */
  const reclaimExpired = Query.findAll({
    Request: Schema.Struct({
      id: EmailBatchId,
      maxAttempts: Schema.Int,
      claimed: Schema.Array(EmailMessageId),
      after: Schema.Duration
    }),
    Result: Schema.Struct({ id: EmailMessageId }),
    execute: ({ after, claimed, id, maxAttempts }) =>
      sql`with back as (
          update email_messages set attempt_count = attempt_count + 1, due_at = null,
            status = case when attempt_count + 1 < ${maxAttempts} then 'queued' else 'failed' end,
            error = ${interrupted},
            completed_at = case when attempt_count + 1 < ${maxAttempts} then null else now() end
          where batch_id = ${id} and status = 'sending' and id <> all(${column.int8(claimed)})
            and coalesce(due_at <= now() - ${Duration.toMillis(after)} * interval '1 millisecond', true)
          returning id, status
        ), counted as (
          update email_batches set ambiguous = ambiguous + (select count(*) from back),
            failed = failed + (select count(*) from back where status = 'failed')
          where id = ${id} and exists (select from back)
        )
        select id from back where status = 'failed'`
  })

  /**
   * Claims due recipients of batches, of each at most `limit`: their status becomes `sending`, and `due_at` the time of the
   * claim. The first claim begins a batch. Claims none of a canceled batch.
   */
  const claim = Query.findAll({
    Request: Schema.Struct({ ids: Schema.Array(EmailBatchId), limit: Schema.Int }),
    Result: Schema.Struct({ ...Claimed.fields, batch_id: EmailBatchId }),
    execute: ({ ids, limit }) =>
      sql`with due as (
          select d.* from email_batches b cross join lateral (
            select m.id, m.batch_id from email_messages m
            where m.batch_id = b.id and m.status = 'queued' and (m.due_at is null or m.due_at <= now())
            order by m.due_at nulls first, m.id limit ${limit} for update of m skip locked
          ) d
          where b.id = any(${column.text(ids)}) and b.status <> 'canceled'
        ), locked as (
          -- In the order of all writers.
          select id from email_batches where status = 'queued' and id in (select batch_id from due) order by id for update
        ), begun as (
          update email_batches b set status = 'processing', started_at = coalesce(b.started_at, now())
          from locked where b.id = locked.id and b.status = 'queued'
        )
        update email_messages m set status = 'sending', due_at = now(), claims = m.claims + 1 from due where m.id = due.id
        returning m.id, m.batch_id, m.recipient, m.variables, m.attempt_count, m.claims as claim_number, m.doubts as unconfirmed_attempts,
          exists (select from suppressions s where s.account_id = m.account_id and s.email = lower(m.recipient))
            as is_suppressed`
  })

  /**
   * Reads whether the batch is open and whether it is canceled, the milliseconds until its next recipient is due, and how
   * many are being sent.
   */
  const progress = Query.findOne({
    Request: EmailBatchId,
    Result: Schema.Struct({
      is_open: Schema.Boolean,
      is_canceled: Schema.Boolean,
      millis: Schema.NullOr(Schema.Finite),
      sending: Schema.Int
    }),
    execute: (id) =>
      sql`select exists (select from email_batches where id = ${id} and completed_at is null) as is_open,
          exists (select from email_batches where id = ${id} and status = 'canceled') as is_canceled,
          (select extract(epoch from min(coalesce(due_at, now())) - now())::float8 * 1000 from email_messages
            where batch_id = ${id} and status = 'queued') as millis,
          (select count(*) from email_messages where batch_id = ${id} and status = 'sending') as sending`
  })

  /** Ends a batch whose recipients have all ended. Returns one row the first time, and none after that. */
  const complete = Query.findOneOption({
    Request: EmailBatchId,
    Result: Schema.Struct({
      account_id: AccountId,
      ...labels,
      total: Schema.Int,
      sent: Schema.Int,
      failed: Schema.Int,
      suppressed: Schema.Int,
      canceled: Schema.Int,
      completed_at: Timestamp
    }),
    execute: (id) =>
      sql`update email_batches set completed_at = now(),
          status = case when status = 'canceled' or canceled = total then 'canceled'
            when sent > 0 then 'completed' else 'failed' end
        where id = ${id} and completed_at is null and sent + failed + suppressed + canceled = total
        returning account_id, tags, metadata, total, sent, failed, suppressed, canceled, completed_at`
  })

  /** The condition of an index. A scheduled batch has no work before its time. */
  const isOpen = sql.literal("completed_at is null and status <> 'scheduled'")

  /**
   * Finds batches of these shards that have work and no worker: a recipient is due, a claim has not been renewed for
   * `claimedFor`, or nothing is left. Reads the accounts with open batches by one entry of the index each, and answers
   * with the oldest batches of each account, turn by turn.
   */
  const findWaiting = Query.findAll({
    Request: Schema.Struct({
      shards: Schema.Array(Schema.Int),
      except: Schema.Array(EmailBatchId),
      claimedFor: Schema.Duration,
      limit: Schema.Int
    }),
    Result: WaitingBatch,
    execute: ({ claimedFor, except, limit, shards }) =>
      sql`with recursive accounts as (
          (select account_id from email_batches where ${isOpen} order by account_id limit 1)
          union all
          select n.account_id from accounts a cross join lateral (select account_id from email_batches
            where ${isOpen} and account_id > a.account_id order by account_id limit 1) n
        )
        select w.id, w.account_id, w.total, w.is_small from accounts a cross join lateral (
          select b.id, b.account_id, b.total, b.created_at, row_number() over (order by b.created_at) as turn,
            b.is_small and b.status <> 'canceled' and exists (select from email_messages m where m.batch_id = b.id
              and m.status = 'queued' and (m.due_at is null or m.due_at <= now())) as is_small
          from email_batches b
          where b.completed_at is null and b.status <> 'scheduled' and b.account_id = a.account_id
            and coalesce(b.shard = any(${column.int4(shards)}), true) and b.id <> all(${column.text(except)})
            and (exists (select from email_messages m where m.batch_id = b.id and m.status = 'queued'
                and (m.due_at is null or m.due_at <= now() or b.status = 'canceled'))
              or exists (select from email_messages m where m.batch_id = b.id and m.status = 'sending'
                and m.due_at <= now() - ${Duration.toMillis(claimedFor)} * interval '1 millisecond')
              or not exists (select from email_messages m where m.batch_id = b.id and m.status = 'queued')
                and not exists (select from email_messages m where m.batch_id = b.id and m.status = 'sending'))
          order by b.created_at limit ${limit}
        ) w
        order by w.turn, w.created_at limit ${limit}`
  })

  const claims = { claim, releaseClaims, renewClaims, reclaimExpired }
  return { ...claims, insert, cancel, cancelQueued, contents, progress, complete, findWaiting }
})

/**
 * SQL of `email_batches` and of their recipients in `email_messages`. `RecipientOutcomes` records the outcomes.
 */
export class BatchesRepo
  extends Context.Service<BatchesRepo>()("messaging-service/channels/email/bulk/BatchesRepo", { make })
{
  static readonly layer = Layer.effect(BatchesRepo, make)
}
