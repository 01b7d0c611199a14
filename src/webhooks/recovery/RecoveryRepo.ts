import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { RecoveryId, WebhookId } from "../../values/Ids.ts"
import { windowFields } from "../../values/Page.ts"
import { RecoverableStatus, Recovery } from "./Recovery.ts"

/** The most rows that one statement counts, so that a count of millions blocks nothing. */
export const countSize = 50_000

/** The most rows that one statement reads to find those that the recovery wants. */
const scanSize = 10_000

/** The most recent deliveries that an estimate of the pace reads. */
const paceSize = 1_000

/** Both ends of a recovery, and its filter. */
const Span = Schema.Struct({
  webhookId: WebhookId,
  since: Schema.String,
  /** Null: now. */
  until: Schema.NullOr(Schema.String),
  statuses: Schema.Array(RecoverableStatus),
  /** Null: all. */
  event: Schema.NullOr(Schema.String),
  /** A status, or a class such as `5xx`. Null: any, or none. */
  response_code: Schema.NullOr(Schema.String),
  /** Payloads of older events have expired. */
  retentionDays: Schema.Int
})

const Listed = Schema.Struct({ webhookId: WebhookId, ...windowFields })

const One = Schema.Struct({ webhookId: WebhookId, id: RecoveryId })

/**
 * Counts deliveries that ended in their recoveries, and completes those without further ones. `ended` selects
 * `recovery_id` and `is_delivered` from another part of the statement.
 */
export const recordRecovered = (sql: SqlClient.SqlClient, ended: Statement.Fragment) =>
  sql`update webhook_recoveries r set delivered = r.delivered + c.delivered, failed = r.failed + c.failed,
      moved_at = now(),
      completed_at = case when r.is_queued and r.delivered + r.failed + c.delivered + c.failed >= r.queued
        then coalesce(r.completed_at, now()) else r.completed_at end
    from (
      select recovery_id, count(*) filter (where is_delivered) as delivered,
        count(*) filter (where not is_delivered) as failed
      from (${ended}) e where recovery_id is not null group by recovery_id) c
    where r.id = c.recovery_id`

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(
    `id, webhook_id, since, until, statuses, event, response_code, total, counted_to is null as is_total_exact, queued,
    delivered, failed, created_at, completed_at,
    case when is_canceled then 'canceled' when completed_at is null then 'running' else 'completed' end as status`
  )

  /**
   * The recoverable deliveries of a webhook between two events, by the index that has no others. Its rows leave it when they
   * are queued again, so a repeated statement finds none of them.
   */
  const recoverable = (webhookId: number, after: Statement.Fragment, before: Statement.Fragment) =>
    sql`from webhook_deliveries d where d.webhook_id = ${webhookId} and d.status <> 'delivered'
      and d.requeued_as is null and not d.is_test and d.event_id > ${after} and d.event_id < ${before}
      order by d.event_id`

  /** Whether a recovery repeats the delivery. A class of answers such as `5xx` has the form of a pattern. */
  const isWanted = (statuses: Statement.Fragment, event: Statement.Fragment, code: Statement.Fragment) =>
    sql`(d.status = any(${statuses}::text[]) and (${event}::text is null or d.event = ${event})
      and (${code}::text is null or d.response_code::text like replace(${code}, 'x', '_')))`

  const isWantedByRow = isWanted(
    sql`(select statuses from recovery)`,
    sql`(select event from recovery)`,
    sql`(select response_code from recovery)`
  )

  /** Ids of events begin with their time. */
  const startOf = ({ retentionDays, since }: typeof Span.Encoded) =>
    sql`'evt_' || ulid_time(greatest(${since}::timestamptz, now() - make_interval(days => ${retentionDays}::integer)))`
  /** Without an end, all that exist: the clock of a node that published some may be fast. */
  const endOf = ({ until, webhookId }: typeof Span.Encoded) =>
    until === null
      ? sql`greatest('evt_' || ulid_time(now()), (select max(d.event_id) || '0' from webhook_deliveries d
          where d.webhook_id = ${webhookId} and d.status <> 'delivered' and d.requeued_as is null and not d.is_test))`
      : sql`'evt_' || ulid_time(${until}::timestamptz)`

  /** Starts a recovery; returns nothing while another one of the webhook runs. */
  const insert = Query.findOneOption({
    Request: Span,
    Result: Schema.Struct({ id: RecoveryId }),
    execute: (span) =>
      sql`insert into webhook_recoveries
          (webhook_id, since, until, statuses, event, response_code, position, ends_at, counted_to)
        values (${span.webhookId}, ${span.since}::timestamptz, coalesce(${span.until}::timestamptz, now()),
          ${column.text(span.statuses)}, ${span.event}, ${span.response_code}, ${startOf(span)}, ${endOf(span)}, ${
        startOf(span)
      })
        on conflict (webhook_id) where completed_at is null do nothing
        returning id`
  })

  /** Counts the next events of a running recovery. Its actor counts before it queues, so no event is missed. */
  const countMore = Query.findOneOption({
    Request: WebhookId,
    Result: Schema.Struct({ is_counted: Schema.Boolean }),
    execute: (webhookId) =>
      sql`with recovery as materialized (
          select * from webhook_recoveries where webhook_id = ${webhookId} and completed_at is null for update
        ), counted as materialized (
          select count(distinct event_id) filter (where is_wanted) as events, count(*) as rows, max(event_id) as last
          from (select d.event_id, ${isWantedByRow} as is_wanted ${
        recoverable(webhookId, sql`(select counted_to from recovery)`, sql`(select ends_at from recovery)`)
      } limit ${countSize}) d
        )
        update webhook_recoveries r set total = r.total + c.events,
          counted_to = case when c.rows < ${countSize} then null else c.last end, moved_at = now()
        from recovery, counted c where r.id = recovery.id
        returning r.counted_to is null as is_counted`
  })

  /**
   * Queues the next events of a running recovery, oldest first, and moves its position. The lock on its row and the
   * position make the statement harmless when an earlier owner of the webhook runs it too.
   */
  const advance = Query.findOne({
    Request: Schema.Struct({ webhookId: WebhookId, size: Schema.Int }),
    Result: Schema.Struct({
      queued: Schema.Int,
      /** Whether its last events are queued; null when none runs. */
      is_queued: Schema.NullOr(Schema.Boolean),
      /** Whether its total is known. */
      is_counted: Schema.Boolean
    }),
    execute: ({ size, webhookId }) =>
      sql`with recovery as materialized (
          select *, case when cardinality(statuses) > 1 and event is null and response_code is null
            then ${size}::integer else ${scanSize}::integer end as scan
          from webhook_recoveries where webhook_id = ${webhookId} and completed_at is null and not is_queued for update
        ), scanned as materialized (
          select d.event_id, d.id, d.event, d.completed_at, ${isWantedByRow} as is_wanted ${
        recoverable(webhookId, sql`(select position from recovery)`, sql`(select ends_at from recovery)`)
      } limit (select scan from recovery)
        ), chosen as materialized (
          select nextval('webhook_delivery_ids') as id, event_id, event from (
            select distinct on (event_id) event_id, event from scanned where is_wanted order by event_id limit ${size}) c
        ), queued as (
          insert into webhook_queue (id, webhook_id, event_id, event, status, recovery_id)
          select c.id, ${webhookId}, c.event_id, c.event, 'pending', recovery.id from chosen c, recovery
        ), marked as (
          update webhook_deliveries d set requeued_as = c.id from scanned s join chosen c on c.event_id = s.event_id
          where d.webhook_id = ${webhookId} and d.id = s.id and d.completed_at = s.completed_at
        ), progress as (
          select (select count(*) from chosen) as chosen,
            (select count(*) from chosen) < ${size} and (select count(*) from scanned) < recovery.scan as is_queued,
            case when (select count(*) from chosen) < ${size} then (select max(event_id) from scanned)
              else (select max(event_id) from chosen) end as last
          from recovery
        ), moved as (
          update webhook_recoveries r set position = coalesce(p.last, r.position), queued = r.queued + p.chosen,
            is_queued = p.is_queued, moved_at = now(),
            total = case when p.is_queued then r.queued + p.chosen else r.total end,
            counted_to = case when p.is_queued then null else r.counted_to end,
            completed_at = case when p.is_queued and r.delivered + r.failed >= r.queued + p.chosen then now() end
          from recovery, progress p where r.id = recovery.id
        )
        select coalesce((select chosen from progress), 0) as queued, (select is_queued from progress) as is_queued,
          coalesce((select counted_to is null from recovery), false) as is_counted`
  })

  /** What a recovery of this span would find, counted up to {@link countSize}. */
  const preview = Query.findOne({
    Request: Span,
    Result: Schema.Struct({
      total: Schema.Int,
      is_total_exact: Schema.Boolean,
      /** The mean of recent deliveries. */
      duration_ms: Schema.NullOr(Schema.Finite)
    }),
    execute: (span) =>
      sql`select count(distinct event_id) filter (where is_wanted) as total,
          count(*) < ${countSize} as is_total_exact,
          (select avg(duration_ms)::float8 from (
            select duration_ms, status from webhook_deliveries where webhook_id = ${span.webhookId}
            order by id desc limit ${paceSize}) recent where status = 'delivered') as duration_ms
        from (select d.event_id, ${
        isWanted(sql`${column.text(span.statuses)}`, sql`${span.event}::text`, sql`${span.response_code}::text`)
      } as is_wanted ${recoverable(span.webhookId, startOf(span), endOf(span))} limit ${countSize}) d`
  })

  const find = Query.findOneOption({
    Request: One,
    Result: Recovery,
    execute: ({ id, webhookId }) =>
      sql`select ${columns} from webhook_recoveries where id = ${id} and webhook_id = ${webhookId}`
  })

  const findRunning = Query.findOneOption({
    Request: WebhookId,
    Result: Recovery,
    execute: (webhookId) =>
      sql`select ${columns} from webhook_recoveries where webhook_id = ${webhookId} and completed_at is null`
  })

  const list = Query.findAll({
    Request: Listed,
    Result: Recovery,
    execute: ({ limit, offset, webhookId, ...start }) =>
      sql`select ${columns} from webhook_recoveries
        where webhook_id = ${webhookId} and ${Query.afterId(sql, "id", start)}
        order by id desc limit ${limit} offset ${offset}`
  })

  const count = Query.findOne({
    Request: Listed,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: ({ webhookId }) => Query.totalOf(sql, sql`from webhook_recoveries where webhook_id = ${webhookId}`)
  })

  /** Ends a running recovery; returns nothing when it has ended. Deliveries that it has queued are sent. */
  const cancel = Query.findOneOption({
    Request: One,
    Result: Recovery,
    execute: ({ id, webhookId }) =>
      sql`update webhook_recoveries set is_canceled = true, completed_at = now(), moved_at = now()
        where id = ${id} and webhook_id = ${webhookId} and completed_at is null
        returning ${columns}`
  })

  return { insert, countMore, advance, preview, find, findRunning, list, count, cancel }
})

/** SQL of `webhook_recoveries`. */
export class RecoveryRepo
  extends Context.Service<RecoveryRepo>()("messaging-service/webhooks/recovery/RecoveryRepo", { make })
{
  static readonly layer = Layer.effect(RecoveryRepo, make)
}
