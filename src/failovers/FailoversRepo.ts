import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema, Struct } from "effect"
import { accountObstacle } from "../messages/scheduledRows.ts"
import { acceptedBy, type Sending } from "../messages/sendFields.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { dollars } from "../pricing/SmsPrice.ts"
import { AccountId, FailoverId } from "../values/Ids.ts"
import { labels } from "../values/Labels.ts"
import { modeOf } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { type Failover, FailoverStatus, Step, stepFields } from "./Failover.ts"

const Owned = Schema.Struct({ accountId: AccountId, id: FailoverId })

/** The row of a failover. Times ending in `ms` are of the database's clock. */
export const FailoverRow = Schema.Struct({
  id: FailoverId,
  account_id: AccountId,
  phone: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  status: FailoverStatus,
  ...labels,
  send_at: Schema.NullOr(Timestamp),
  is_due: Schema.Boolean,
  canceled_at: Schema.NullOr(Timestamp),
  completed_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  now_ms: Schema.Finite
})
export type FailoverRow = typeof FailoverRow.Type

/** A step with the state of its message. */
const StepRow = Schema.Struct({
  failover_id: FailoverId,
  position: Schema.Int,
  ...Struct.omit(stepFields, ["cost_usd"]),
  cost_micros: Schema.NullOr(Schema.Int),
  request: Schema.NullOr(Step),
  begun_ms: Schema.NullOr(Schema.Finite),
  sent_ms: Schema.NullOr(Schema.Finite)
})
export type StepRow = typeof StepRow.Type

/** A step that is stored before it begins. */
export interface NewStep {
  readonly channel: StepRow["channel"]
  readonly to: string
  readonly until: StepRow["until"]
  readonly within_seconds: number
  readonly request: typeof Step.Encoded
}

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const { trialChannels } = yield* AppConfig

  const columns = sql.literal(`id, account_id, phone, email, status, tags, metadata, send_at,
    (send_at is null or send_at <= now()) as is_due, canceled_at, completed_at, created_at, updated_at,
    (extract(epoch from now()) * 1000)::float8 as now_ms`)

  const find = Query.findOneOption({
    Request: Owned,
    Result: FailoverRow,
    execute: ({ accountId, id }) => sql`select ${columns} from failovers where id = ${id} and account_id = ${accountId}`
  })

  /** Locks the failover until the transaction ends. Its cancellation and its actor exclude each other. */
  const lock = Query.findOneOption({
    Request: FailoverId,
    Result: FailoverRow,
    execute: (id) => sql`select ${columns} from failovers where id = ${id} for update`
  })

  /**
   * The steps in order, each with how far its message has come. A message that retention has deleted counts as failed. Only a
   * person's open or click reads an email. One by a program proves no delivery either: gateways open mails before they accept.
   */
  const steps = Query.findAll({
    Request: Schema.Array(FailoverId),
    Result: StepRow,
    execute: (ids) =>
      sql`select s.failover_id, s.position, s.channel, s.recipient as "to", s.until, s.within_seconds, s.request,
          s.message_id, s.begun_at, (extract(epoch from s.begun_at) * 1000)::float8 as begun_ms,
          coalesce(m.sent_at, e.sent_at) as sent_at, (extract(epoch from coalesce(m.sent_at, e.sent_at)) * 1000)::float8 as sent_ms,
          coalesce(m.delivered_at, e.delivered_at) as delivered_at,
          case m.status when 'canceled' then 0 else m.cost_micros end as cost_micros,
          coalesce(s.error, m.error_message, e.error) as error,
          case when s.begun_at is null then 'waiting'
            when s.message_id is null then 'failed'
            when coalesce(m.status, e.status) in ('scheduled', 'queued', 'sending') then 'queued'
            when m.status = 'read' or e.status in ('opened', 'clicked', 'complained')
              and (e.opens > e.machine_opens or e.clicks > e.bot_clicks) then 'read'
            when coalesce(m.status, e.status) in ('delivered', 'complained')
              or e.status in ('opened', 'clicked') and e.delivered_at is not null then 'delivered'
            when coalesce(m.status, e.status) in ('sent', 'opened', 'clicked') then 'sent'
            when coalesce(m.status, e.status) = 'canceled' then 'canceled'
            else 'failed' end as status
        from failover_steps s
        left join messages m on s.channel <> 'email' and m.id = s.message_id and m.account_id = s.account_id
        left join email_messages e on s.channel = 'email' and e.id = s.message_id and e.account_id = s.account_id
        where s.failover_id = any(${column.text(ids)}) order by s.failover_id, s.position`
  })

  const insert = Effect.fnUntraced(function*(
    row: Pick<FailoverRow, "id" | "account_id" | "phone" | "email">,
    sending: Sending,
    steps: ReadonlyArray<NewStep>
  ) {
    yield* Query.run(sql`insert into failovers (id, account_id, phone, email, status, tags, metadata, accepted_by,
        send_at, due_at)
      select ${row.id}, ${row.account_id}::bigint, ${row.phone}, ${row.email},
        case when ${sending.sendAt}::timestamptz is null then 'queued' else 'scheduled' end,
        ${column.text(sending.tags)}::text[], ${JSON.stringify(sending.metadata)}::jsonb, ${acceptedBy(sending)}::jsonb,
        ${sending.sendAt}::timestamptz, coalesce(${sending.sendAt}::timestamptz, now())`)
    yield* Query.run(sql`insert into failover_steps
        (failover_id, position, account_id, channel, recipient, until, within_seconds, request)
      select ${row.id}, position - 1, ${row.account_id}::bigint, channel, recipient, until, within_seconds, request::jsonb
      from unnest(${column.text(steps.map(({ channel }) => channel))}, ${column.text(steps.map(({ to }) => to))},
        ${column.text(steps.map(({ until }) => until))}, ${column.int4(steps.map((step) => step.within_seconds))},
        ${column.text(steps.map(({ request }) => JSON.stringify(request)))})
        with ordinality as t (channel, recipient, until, within_seconds, request, position)`)
  })

  /** Why the account sends nothing by a channel any more, or null. */
  const obstacle = accountObstacle(sql, trialChannels)

  /** Notes that a step has begun: with its message, or with the reason for having none. */
  const begun = (
    step: Pick<StepRow, "failover_id" | "position">,
    { error, messageId }: { readonly messageId: number | null; readonly error: string | null }
  ) =>
    Query.run(sql`update failover_steps set begun_at = now(), message_id = ${messageId}::bigint, error = ${error}
      where failover_id = ${step.failover_id} and position = ${step.position}`)

  /** Notes whose step a message is. */
  const link = (
    { account_id, id }: Pick<FailoverRow, "account_id" | "id">,
    message: { readonly channel: StepRow["channel"]; readonly id: number }
  ) =>
    Query.run(sql`update ${sql(message.channel === "email" ? "email_messages" : "messages")}
      set failover_id = ${id} where id = ${message.id} and account_id = ${account_id}`)

  /** Stores the state. `wait` is when the actor looks again, in milliseconds from now. The end drops the requests. */
  const store = Effect.fnUntraced(function*(
    { id, status }: Pick<FailoverRow, "id" | "status">,
    { isOver, wait }: { readonly isOver: boolean; readonly wait: number | undefined }
  ) {
    yield* Query.run(sql`update failovers set status = ${status}, updated_at = now(),
        due_at = now() + ${wait ?? null}::float8 * interval '1 millisecond',
        completed_at = case when ${isOver} then coalesce(completed_at, now()) end
      where id = ${id}`)
    if (isOver) yield* Query.run(sql`update failover_steps set request = null where failover_id = ${id}`)
  })

  const clearSignals = (id: FailoverId) => Query.run(sql`delete from failover_signals where failover_id = ${id}`)

  /** The request withdraws the step after this commit. If it dies first, the sweeper does, because the message is due. */
  const cancel = (id: FailoverId) =>
    Query.run(sql`update failovers set canceled_at = now(), due_at = now(), updated_at = now() where id = ${id}`)

  const reschedule = (id: FailoverId, sendAt: Timestamp) =>
    Query.run(
      sql`update failovers set send_at = ${sendAt}::timestamptz, due_at = ${sendAt}::timestamptz, updated_at = now(),
        reschedules = with_reschedule(reschedules, send_at, ${sendAt}::timestamptz)
      where id = ${id}`
    )

  /** Failovers whose time has come or whose messages have changed. Each half uses its index. */
  const due = Query.findAll({
    Request: Schema.Int,
    Result: Schema.Struct({ id: FailoverId }),
    execute: (limit) =>
      sql`(select id from failovers where due_at <= now() order by due_at limit ${limit})
        union (select failover_id as id from failover_signals order by id limit ${limit})`
  })

  return { begun, cancel, clearSignals, due, find, insert, link, lock, obstacle, reschedule, steps, store }
})

/** The rows of failovers and their steps. */
export class FailoversRepo
  extends Context.Service<FailoversRepo>()("messaging-service/failovers/FailoversRepo", { make })
{
  static readonly layer = Layer.effect(FailoversRepo, make)
}

const stepOf = ({ channel, message_id, ...step }: StepRow) => ({
  channel,
  to: step.to,
  until: step.until,
  within_seconds: step.within_seconds,
  status: step.status,
  message_id,
  href: message_id === null ? null : `/v1/${channel}/messages/${message_id}`,
  error: step.error,
  cost_usd: step.cost_micros === null ? null : dollars(step.cost_micros),
  begun_at: step.begun_at,
  sent_at: step.sent_at,
  delivered_at: step.delivered_at
})

/** The record of a row and its steps. */
export const recordOf = (row: FailoverRow, steps: ReadonlyArray<StepRow>): Failover => ({
  id: row.id,
  to: { phone: row.phone, email: row.email },
  status: row.status,
  steps: steps.map(stepOf),
  cost_usd: dollars(steps.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0)),
  tags: row.tags,
  metadata: row.metadata,
  send_at: row.send_at,
  mode: modeOf(row.account_id),
  canceled_at: row.canceled_at,
  completed_at: row.completed_at,
  created_at: row.created_at,
  updated_at: row.updated_at
})
