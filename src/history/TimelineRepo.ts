import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { FailoverStatus } from "../failovers/Failover.ts"
import { AnyStatus, SummaryChannel } from "../messages/MessageSummary.ts"
import { AcceptedBy } from "../messages/sendFields.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { VerificationStatus } from "../verify/Verification.ts"
import { queueStatuses } from "../webhooks/delivery/DeliveryState.ts"
import { deliveriesFound } from "../webhooks/history/eventDeliveries.ts"

const One = Schema.Struct({ accountId: AccountId, channel: SummaryChannel, id: Schema.Int })
export type One = typeof One.Type

/** A message with failover, or a verification. */
const Whole = Schema.Struct({ accountId: AccountId, id: Schema.String })
export type Whole = typeof Whole.Type

const time = Schema.NullOr(Timestamp)
const text = Schema.NullOr(Schema.String)

/** Each change of the time for which a message waits. */
const reschedules = Schema.Array(Schema.Struct({ at: Timestamp, from: Timestamp, to: Timestamp }))

const FailoverFacts = Schema.Struct({
  status: FailoverStatus,
  accepted_by: Schema.NullOr(AcceptedBy),
  send_at: time,
  reschedules,
  created_at: Timestamp,
  canceled_at: time,
  completed_at: time,
  /** The time of its last change. A late receipt changes the status after the end. */
  updated_at: Timestamp
})
export type FailoverFacts = typeof FailoverFacts.Type

const StepFacts = Schema.Struct({
  channel: SummaryChannel,
  /** Null if the step was refused when it began. */
  message_id: Schema.NullOr(Schema.Int),
  recipient: Schema.String,
  error: text,
  begun_at: Timestamp
})
export type StepFacts = typeof StepFacts.Type

const VerificationFacts = Schema.Struct({
  status: VerificationStatus,
  accepted_by: Schema.NullOr(AcceptedBy),
  messages: Schema.Array(Schema.Struct({ channel: SummaryChannel, id: Schema.Int })),
  created_at: Timestamp,
  ended_at: time
})

/** A message, or one recipient of an email, with its times. */
const Copy = Schema.Struct({
  recipient: Schema.String,
  direction: Schema.Literals(["in", "out"]),
  status: AnyStatus,
  batch_id: text,
  accepted_by: Schema.NullOr(AcceptedBy),
  error: text,
  send_at: time,
  reschedules,
  created_at: Timestamp,
  sent_at: time,
  delivered_at: time,
  read_at: time,
  opened_at: time,
  clicked_at: time,
  ended_at: time
})
export type Copy = typeof Copy.Type

const Attempt = Schema.Struct({
  attempt: Schema.Int,
  outcome: Schema.Literals(["accepted", "refused", "deferred", "unconfirmed", "failed"]),
  recipient: text,
  part: Schema.NullOr(Schema.Int),
  peer: text,
  reply: text,
  duration_ms: Schema.NullOr(Schema.Int),
  dialogue: text,
  next_at: time,
  at: Timestamp,
  started_at: Timestamp
})
export type Attempt = typeof Attempt.Type

const ids = Schema.NullOr(Schema.Array(Schema.Int))

const PublishedEvent = Schema.Struct({
  id: Schema.String,
  event: Schema.String,
  at: Timestamp,
  /** Null if a version before has published it. */
  webhook_ids: ids,
  delivery_ids: ids
})
export type PublishedEvent = typeof PublishedEvent.Type

const Delivery = Schema.Struct({
  id: Schema.Int,
  webhook_id: Schema.Int,
  event_id: Schema.String,
  event: Schema.String,
  status: Schema.Literals(["pending", "retrying", "delivered", "failed", "skipped"]),
  attempts: Schema.Int,
  response_code: Schema.NullOr(Schema.Int),
  error: text,
  at: Timestamp
})
export type Delivery = typeof Delivery.Type

/** The days of a message: its attempts and events are in their partitions. */
export interface Span {
  readonly from: Timestamp
  /** Null while something may still happen. */
  readonly until: Timestamp | null
}

/** How much later than its event a delivery may end: the longest retry policy, and a recovery. */
const longestDelivery = "4 days"

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** A batch has it for its messages, and a message with steps for its own. */
  const acceptedBy = (batches: string, accountId: number) =>
    sql`coalesce(m.accepted_by,
      (select accepted_by from ${sql(batches)} b where b.id = m.batch_id and b.account_id = ${accountId}),
      (select accepted_by from failovers f where f.id = m.failover_id and f.account_id = ${accountId})) as accepted_by`

  /** Those of the message and those of its batch. */
  const changes = (batches: string, accountId: number) =>
    sql`coalesce(m.reschedules, '[]') || coalesce((select reschedules from ${sql(batches)} b
      where b.id = m.batch_id and b.account_id = ${accountId}), '[]') as reschedules`

  const copies = Query.findAll({
    Request: One,
    Result: Copy,
    execute: ({ accountId, channel, id }) =>
      channel === "email"
        ? sql`select recipient, 'out' as direction, case status when 'sending' then 'queued' else status end as status,
            batch_id, ${acceptedBy("email_batches", accountId)}, ${changes("email_batches", accountId)}, error, send_at,
            created_at, sent_at, delivered_at, null::timestamptz as read_at, opened_at, clicked_at, completed_at as ended_at
          from email_messages m
          where account_id = ${accountId} and (part_of = ${id} or (id = ${id} and part_of is null))
          order by part_of nulls first, position`
        : sql`select recipient, direction, case status when 'sending' then 'queued' else status end as status, batch_id,
            ${acceptedBy("message_batches", accountId)}, ${
          changes("message_batches", accountId)
        }, coalesce(error_message, error_code) as error, send_at, created_at, sent_at,
            delivered_at, read_at, null::timestamptz as opened_at, null::timestamptz as clicked_at, failed_at as ended_at
          from messages m where account_id = ${accountId} and channel = ${channel} and id = ${id}`
  })

  const attempts = ({ accountId, channel, id }: One, { from, until }: Span) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Attempt,
      execute: () =>
        // The newest ones: they say why a message still waits.
        sql`select a.* from (
          select attempt, outcome, recipient, part, peer, reply, duration_ms, dialogue, next_at, at,
            at - coalesce(duration_ms, 0) * interval '1 millisecond' as started_at
          from message_attempts where message_id = ${id} and channel = ${channel} and account_id = ${accountId}
            and at >= ${from}::timestamptz - interval '2 hours'
            and at <= coalesce(${until}::timestamptz, now()) + interval '2 hours'
          order by at desc, attempt desc limit 1000
        ) a order by a.at, a.attempt`.unprepared
    })()

  const published = (about: Statement.Fragment, from: Timestamp) =>
    Query.findAll({
      Request: Schema.Void,
      Result: PublishedEvent,
      execute: () =>
        sql`select id, name as event, created_at as at, webhook_ids, delivery_ids from events where ${about}
          and id >= 'evt_' || ulid_time(${from}::timestamptz - interval '1 hour') order by id limit 1000`.unprepared
    })()

  const events = ({ accountId, channel, id }: One, { from }: Span) =>
    published(sql`message_id = ${id} and channel = ${channel} and account_id = ${accountId}`, from)

  /** The events of a message with failover or a verification itself. */
  const eventsOf = ({ accountId, id }: Whole, from: Timestamp) =>
    published(sql`subject = ${id} and account_id = ${accountId}`, from)

  const failover = Query.findOneOption({
    Request: Whole,
    Result: FailoverFacts,
    execute: ({ accountId, id }) =>
      sql`select status, accepted_by, send_at, coalesce(reschedules, '[]') as reschedules, created_at, canceled_at, completed_at,
          updated_at from failovers
        where id = ${id} and account_id = ${accountId}`
  })

  /** The steps that have begun. */
  const steps = Query.findAll({
    Request: Whole,
    Result: StepFacts,
    execute: ({ accountId, id }) =>
      sql`select channel, message_id, recipient, error, begun_at from failover_steps
        where failover_id = ${id} and account_id = ${accountId} and begun_at is not null order by position`
  })

  const verification = Query.findOneOption({
    Request: Whole,
    Result: VerificationFacts,
    execute: ({ accountId, id }) =>
      sql`select status, accepted_by, messages, created_at, ended_at from verifications
        where id = ${id} and account_id = ${accountId}`
  })

  const deliveries = (events: ReadonlyArray<PublishedEvent>, { from }: Span) => {
    const last = events.at(-1)?.at ?? from
    const first = sql`select * from unnest(${column.int8(events.flatMap(({ webhook_ids }) => webhook_ids ?? []))},
      ${column.int8(events.flatMap(({ delivery_ids }) => delivery_ids ?? []))})`
    const ended = sql`d.completed_at >= ${from}::timestamptz - interval '1 hour'
      and d.completed_at < ${last}::timestamptz + ${longestDelivery}::text::interval`
    const waiting = (status: typeof queueStatuses[number]) =>
      sql`select id, webhook_id, event_id, event, case when attempt_count = 0 then 'pending' else 'retrying' end,
          attempt_count, (attempts -> -1 ->> 'response_code')::smallint, attempts -> -1 ->> 'error',
          coalesce((attempts -> -1 ->> 'started_at')::timestamptz, created_at)
        from webhook_queue where status = ${sql.literal(`'${status}'`)} and not is_test
          and webhook_id = any(array(select distinct webhook_id from found)) and id = any(array(select id from found))`
    return Query.findAll({
      Request: Schema.Void,
      Result: Delivery,
      execute: () =>
        sql`with ${deliveriesFound(sql, first, ended)}
          select d.id, d.webhook_id, d.event_id, d.event, d.status, d.attempt_count as attempts, d.response_code, d.error,
            d.completed_at as at
          from found f join webhook_deliveries d on d.webhook_id = f.webhook_id and d.id = f.id
          where not d.is_test and ${ended}
          union all ${sql.join(" union all ", false)(queueStatuses.map(waiting))} limit 1000`.unprepared
    })()
  }

  return { copies, attempts, events, eventsOf, deliveries, failover, steps, verification }
})

/** SQL that reads what happened to one message. Times bound each statement to the partitions of its days. */
export class TimelineRepo extends Context.Service<TimelineRepo>()("messaging-service/history/TimelineRepo", { make }) {
  static readonly layer = Layer.effect(TimelineRepo, make)
}
