import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import { AccountId, MessageBatchId, MessageId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import type { Settled } from "./PartState.ts"
import type { Receipt } from "./Receipt.ts"

/** What became of one attempt, ready to be written down. */
export interface PartOutcome {
  readonly message_id: MessageId
  readonly part_no: number
  /** What the row counted when it was claimed: another owner's claim counts more. */
  readonly doubtsBefore: number
  readonly at: Timestamp
  readonly settled: Settled
}

/** A message as what happens to it is decided and told. */
export const LockedSms = Schema.Struct({
  id: MessageId,
  account_id: AccountId,
  recipient: Schema.String,
  type: Schema.String,
  status: Schema.Literals(["queued", "sent", "delivered", "failed", "canceled"]),
  batch_id: Schema.NullOr(MessageBatchId),
  segments: Schema.Int,
  cost_micros: Schema.Int
})
export type LockedSms = typeof LockedSms.Type

const Counts = Schema.Struct({
  message_id: MessageId,
  parts: Schema.Int,
  sent: Schema.Int,
  delivered: Schema.Int,
  failed: Schema.Int,
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String)
})

/** A message that goes on. */
export interface Step {
  readonly id: MessageId
  readonly status: "sent" | "delivered" | "failed"
  readonly at: Timestamp
  readonly error_code: string | null
  readonly error_message: string | null
}

const Ids = Schema.Array(MessageId)

/** SQL of what becomes of parts, of their messages, and of these messages' batches. */
export const makePartNewsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Held until the transaction ends, in one order by everybody, so that groups written at the same time cannot deadlock. */
  const lock = SqlSchema.findAll({
    Request: Ids,
    Result: LockedSms,
    execute: (ids) =>
      sql`select id, account_id, recipient, type, status, batch_id, segments, cost_micros from messages
        where id = any(${column.int8(ids)}) order by id for update`
  })

  /** A part changes only while it is being sent by the owner that tells of it. */
  const settle = (outcomes: ReadonlyArray<PartOutcome>) => {
    const of = <A>(read: (outcome: PartOutcome) => A) => outcomes.map(read)
    const delays = of(({ settled: { delay } }) => delay === undefined ? null : Duration.toMillis(delay))
    return sql`update sms_parts p set status = o.status, attempt_count = o.attempts, doubts = o.doubts,
        due_at = now() + o.delay * interval '1 millisecond', provider_message_id = o.provider_message_id,
        error_code = o.error_code, error_message = o.error_message,
        sent_at = case when o.status = 'sent' then o.at end, completed_at = case when o.status = 'failed' then o.at end
      from unnest(${column.int8(of((r) => r.message_id))}, ${column.int4(of((r) => r.part_no))},
        ${column.int4(of((r) => r.doubtsBefore))}, ${column.text(of((r) => r.settled.status))},
        ${column.int4(of((r) => r.settled.attempt_count))}, ${column.int4(of((r) => r.settled.doubts))},
        ${column.float8(delays)}, ${column.text(of((r) => r.settled.provider_message_id))},
        ${column.text(of((r) => r.settled.error_code))}, ${column.text(of((r) => r.settled.error_message))},
        ${column.text(of((r) => r.at))}::timestamptz[])
        as o (message_id, part_no, doubts_before, status, attempts, doubts, delay, provider_message_id, error_code,
          error_message, at)
      where p.message_id = o.message_id and p.part_no = o.part_no and p.status = 'sending' and p.doubts = o.doubts_before`
  }

  const known = (receipts: ReadonlyArray<Receipt>) =>
    sql`unnest(${column.text(receipts.map((r) => r.provider))},
      ${column.text(receipts.map((r) => r.provider_message_id))}, ${column.text(receipts.map((r) => r.state))},
      ${column.text(receipts.map((r) => r.error_code))}, ${column.text(receipts.map((r) => r.error_message))})
      with ordinality as r (provider, provider_message_id, state, error_code, error_message, position)`

  /**
   * The message of each receipt in their order, null where no part with that id waits for one: carriers use an id again,
   * and a receipt before the answer is not of the part that had it before. Of several that wait, the newest.
   */
  const find = (receipts: ReadonlyArray<Receipt>) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: Schema.NullOr(MessageId) }),
      execute: () =>
        sql`select (select p.message_id from sms_parts p
            where p.provider = r.provider and p.provider_message_id = r.provider_message_id and p.status = 'sent'
            order by p.message_id desc limit 1) as message_id
          from ${known(receipts)} order by r.position`
    })()

  /** Never backwards: a part that is delivered or failed stays so. */
  const receive = (receipts: ReadonlyArray<Receipt>, ids: ReadonlyArray<MessageId>) =>
    sql`update sms_parts p set status = r.state, error_code = r.error_code, error_message = r.error_message,
        completed_at = now()
      from (select distinct on (provider, provider_message_id) * from ${known(receipts)}
        order by provider, provider_message_id, position) r
      where p.provider = r.provider and p.provider_message_id = r.provider_message_id and p.status = 'sent'
        and p.message_id = any(${column.int8(ids)})`

  const keepUnmatched = (receipts: ReadonlyArray<Receipt>) =>
    sql`insert into sms_unmatched_receipts (provider, provider_message_id, state, error_code, error_message)
      select provider, provider_message_id, state, error_code, error_message from ${known(receipts)} order by position`

  /** Takes out the receipts whose part waits for them by now. */
  const takeMatched = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({
      provider: Schema.String,
      provider_message_id: Schema.String,
      state: Schema.Literals(["delivered", "failed"]),
      error_code: Schema.NullOr(Schema.String),
      error_message: Schema.NullOr(Schema.String)
    }),
    execute: () =>
      sql`with matched as (
          select u.id from sms_unmatched_receipts u where exists (select from sms_parts p
            where p.provider = u.provider and p.provider_message_id = u.provider_message_id and p.status = 'sent')
          order by u.id limit 500 for update skip locked
        )
        delete from sms_unmatched_receipts u using matched m where u.id = m.id
        returning u.provider, u.provider_message_id, u.state, u.error_code, u.error_message`
  })

  const counts = SqlSchema.findAll({
    Request: Ids,
    Result: Counts,
    execute: (ids) =>
      sql`select message_id, count(*) as parts, count(*) filter (where status in ('sent', 'delivered')) as sent,
          count(*) filter (where status = 'delivered') as delivered, count(*) filter (where status = 'failed') as failed,
          (array_agg(error_code order by part_no) filter (where status = 'failed'))[1] as error_code,
          (array_agg(error_message order by part_no) filter (where status = 'failed'))[1] as error_message
        from sms_parts where message_id = any(${column.int8(ids)}) group by message_id`
  })

  /** What is left of a failed message is not sent: nobody could read it. */
  const step = (steps: ReadonlyArray<Step>) =>
    sql`with step as (
        select * from unnest(${column.int8(steps.map((s) => s.id))}, ${column.text(steps.map((s) => s.status))},
          ${column.text(steps.map((s) => s.at))}::timestamptz[], ${column.text(steps.map((s) => s.error_code))},
          ${column.text(steps.map((s) => s.error_message))}) as t (id, status, at, error_code, error_message)
      ), left_out as (
        update sms_parts p set status = 'failed', error_code = 'message_failed', completed_at = s.at
        from step s where p.message_id = s.id and s.status = 'failed' and p.status = 'queued'
      )
      update messages m set status = s.status, error_code = s.error_code, error_message = s.error_message,
        sent_at = case when s.status in ('sent', 'delivered') then coalesce(m.sent_at, s.at) else m.sent_at end,
        delivered_at = case when s.status = 'delivered' then s.at end,
        failed_at = case when s.status = 'failed' then s.at end
      from step s where m.id = s.id`

  return { lock, settle, find, receive, keepUnmatched, takeMatched, counts, step }
}))
