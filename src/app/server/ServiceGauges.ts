/** The gauges that need the database, for `/metrics`: queues, webhooks, sessions and connections of the whole cluster. */
import { Clock, Context, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import manifest from "../../../package.json" with { type: "json" }
import { SessionStatus } from "../../channels/whatsapp/model/SessionState.ts"
import { Database } from "../../platform/database/Database.ts"
import { DatabaseProbe } from "../../platform/database/DatabaseProbe.ts"
import * as Query from "../../platform/database/Query.ts"
import { gauge, gaugesBy } from "../../platform/observability/series.ts"
import { Gauges } from "../../platform/observability/Telemetry.ts"
import { firstLane } from "../../values/TestMode.ts"
import { UnhealthyReason } from "../../webhooks/endpoint/Webhook.ts"

/** A queue is counted up to this length, so that a backlog of millions costs no more than 0.1 seconds. */
const longest = 100_000

/** Several scrapers share a measurement that is at most this old. */
const freshMillis = 5_000

const timeout = Duration.seconds(2)

const queues = ["email", "email_bulk", "notices", "sms", "whatsapp", "whatsapp_inbox", "webhooks"] as const

/** States of connections in pg_stat_activity. */
const connectionStates = ["active", "idle", "idle_in_transaction"] as const

const Label = Schema.Literals([
  ...queues,
  ...UnhealthyReason.literals,
  ...SessionStatus.literals,
  ...connectionStates,
  "limit"
])

const Measured = Schema.Struct({
  kind: Schema.Literals(["queue", "unhealthy", "sessions", "connections"]),
  label: Label,
  count: Schema.Int,
  /** Seconds that the oldest item is overdue; null without one. */
  age: Schema.NullOr(Schema.Finite)
})
type Measured = typeof Measured.Type

const lengths = gaugesBy({
  name: "queue_length",
  description: `Items that wait in a queue of the whole service, counted up to ${longest}`,
  label: "queue",
  values: queues
})
const ages = gaugesBy({
  name: "queue_oldest_seconds",
  description: "How long the oldest item of a queue of the whole service is overdue",
  label: "queue",
  values: queues
})
const unhealthy = gaugesBy({
  name: "webhooks_unhealthy",
  description: "Active webhooks of the whole service that get no new events, by reason",
  label: "reason",
  values: UnhealthyReason.literals
})
const sessions = gaugesBy({
  name: "whatsapp_sessions",
  description: "WhatsApp sessions of the whole service, by status",
  label: "status",
  values: SessionStatus.literals
})
const connections = gaugesBy({
  name: "database_connections",
  description: "Connections of the whole service to PostgreSQL, by state",
  label: "state",
  values: connectionStates
})
const connectionLimit = gauge("database_connections_limit", "max_connections of PostgreSQL")
const isUp = gauge("database_up", "1 if PostgreSQL answered this node within two seconds, else 0")
const poolWait = gauge(
  "database_pool_wait_seconds",
  "How long this scrape waited for a connection of the requests' pool; 2 if it got none"
)
const build = gaugesBy({
  name: "messaging_build_info",
  description: "1; its label is the version of this node",
  label: "version",
  values: [manifest.version]
})

const show = (rows: ReadonlyArray<Measured>) => {
  // A label without a row is 0.
  const each = <L extends string>(
    kind: Measured["kind"],
    labels: ReadonlyArray<L>,
    set: (label: L, row: Measured | undefined) => void
  ) => {
    const found = new Map<string, Measured>(rows.filter((row) => row.kind === kind).map((row) => [row.label, row]))
    for (const label of labels) set(label, found.get(label))
  }
  each("queue", queues, (queue, row) => {
    lengths(queue, row?.count ?? 0)
    ages(queue, Math.max(0, row?.age ?? 0))
  })
  each("unhealthy", UnhealthyReason.literals, (reason, row) => unhealthy(reason, row?.count ?? 0))
  each("sessions", SessionStatus.literals, (status, row) => sessions(status, row?.count ?? 0))
  each("connections", connectionStates, (state, row) => connections(state, row?.count ?? 0))
  each("connections", ["limit"], (_, row) => connectionLimit(row?.count ?? 0))
}

/** One statement for all gauges. Each part reads an index, or the row of each session. */
const makeMeasure = Effect.map(SqlClient.SqlClient, (sql) => {
  const limit = sql.literal(String(longest))
  const waiting = (queue: (typeof queues)[number], rows: Statement.Fragment) =>
    sql`select 'queue' as kind, ${sql.literal(`'${queue}'`)} as label, count(*) as count,
      extract(epoch from now() - min(due_at))::float8 as age from (${rows} limit ${limit}) as items`
  return Query.findAll({
    Request: Schema.Void,
    Result: Measured,
    execute: () =>
      sql`${
        waiting(
          "email",
          sql`select due_at from email_messages where status = 'queued' and batch_id is null
            and lane < ${firstLane.test} order by lane, due_at, id`
        )
      }
      union all ${
        waiting(
          "email_bulk",
          // Ids of batches sort by time, so that the oldest are among those that are counted.
          sql`select due_at from email_messages where status = 'queued' and batch_id is not null
            and account_id > 0
            order by batch_id, due_at, id`
        )
      }
      union all ${waiting("notices", sql`select due_at from notices where status = 'queued' order by due_at`)}
      union all ${
        waiting(
          "sms",
          sql`select due_at from sms_parts where status = 'queued' and account_id >= 0
            order by lane, due_at, message_id, part_no`
        )
      }
      union all ${
        waiting(
          "whatsapp",
          // Messages of a session that is not connected wait for a person.
          sql`select o.due_at from whatsapp_sessions s join whatsapp_outbox o on o.session_id = s.id
            where s.status = 'connected' and o.status = 'queued' and s.account_id > 0`
        )
      }
      union all ${
        waiting("whatsapp_inbox", sql`select received_at as due_at from whatsapp_inbox where done_at is null`)
      }
      union all select 'queue', 'webhooks',
        (select count(*) from (select from webhook_queue where status = 'pending' limit ${limit}) as first)
        + (select count(*) from (select from webhook_queue where status = 'retrying' limit ${limit}) as retry),
        -- The oldest of each webhook, of which one is found after the other. Those of others wait for their owners.
        (with recursive queued as (
            (select webhook_id from webhook_queue where status = 'pending' order by webhook_id limit 1)
            union all select (select webhook_id from webhook_queue where status = 'pending'
              and webhook_id > queued.webhook_id order by webhook_id limit 1) from queued where webhook_id is not null
          ) select extract(epoch from now() - min(oldest.due_at))::float8 from queued
            join webhooks w on w.id = queued.webhook_id and w.is_active
              and coalesce(w.unhealthy_reason, 'backlog_full') = 'backlog_full'
            cross join lateral (select due_at from webhook_queue q where q.webhook_id = w.id and q.status = 'pending'
              order by q.id limit 1) as oldest)
      union all select 'unhealthy', unhealthy_reason, count(*), null from webhooks
        where is_active and unhealthy_reason is not null and account_id > 0 group by unhealthy_reason
      union all select 'sessions', status, count(*), null from whatsapp_sessions
        where is_confirmed and desired <> 'removed' and account_id > 0 group by status
      union all select 'connections', case when state like 'idle in%' then 'idle_in_transaction'
          when state = 'idle' then 'idle' else 'active' end as label, count(*), null from pg_stat_activity
        where datname = current_database() and application_name like 'messaging-service%' group by label
      union all select 'connections', 'limit', current_setting('max_connections')::integer, null`
  })
})

/** The statement on the queue pool, so that it waits for no request. */
class Measurement extends Context.Service<Measurement, Effect.Effect<ReadonlyArray<Measured>>>()(
  "messaging-service/app/server/ServiceGauges/Measurement"
) {
  static readonly layer = Layer.effect(Measurement, Effect.map(makeMeasure, (measure) => measure()))
}

/**
 * Measures at a scrape. A statement that hangs keeps running, and later scrapes wait for the same one, so an outage costs
 * one connection.
 */
export const ServiceGauges = Layer.effect(
  Gauges,
  Effect.gen(function*() {
    const measure = yield* Measurement
    const probe = yield* DatabaseProbe
    const requests = yield* SqlClient.SqlClient
    const clock = yield* Clock.Clock
    build(manifest.version, 1)

    const timed = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const begun = clock.currentTimeMillisUnsafe()
        yield* effect
        return (clock.currentTimeMillisUnsafe() - begun) / 1000
      })
    const waited = timed(Effect.scoped(requests.reserve)).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.succeed(Duration.toSeconds(timeout)) }),
      Effect.map(poolWait)
    )
    let pending: Fiber.Fiber<void, unknown> | undefined
    let measuredAt = -Infinity
    const measured = Effect.map(measure, (rows) => {
      show(rows)
      measuredAt = clock.currentTimeMillisUnsafe()
    })
    const settled = Effect.sync(() => {
      pending = undefined
    })
    const refreshed = Effect.gen(function*() {
      if (clock.currentTimeMillisUnsafe() < measuredAt + freshMillis) return
      pending ??= yield* Effect.forkDetach(Effect.ensuring(measured, settled))
      yield* Effect.timeoutOption(Fiber.await(pending), timeout)
    })
    const answered = Effect.map(probe.answers(timeout), (answers) => isUp(answers ? 1 : 0))

    return Gauges.of({
      refresh: Effect.ignoreCause(
        Effect.all([answered, Effect.ignoreCause(waited), Effect.ignoreCause(refreshed)], {
          concurrency: "unbounded",
          discard: true
        })
      )
    })
  })
).pipe(Layer.provide(Database.onQueuePool(Measurement.layer)))
