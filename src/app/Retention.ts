import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { dropPartitions, makePartitions, type PartitionedTable } from "../platform/database/Partitions.ts"
import * as Query from "../platform/database/Query.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { WebhookId } from "../values/Ids.ts"
import { eraseDeliveries } from "../webhooks/webhooksErasure.ts"

/** A table that is in use keeps its partition until the next round, and takes nothing from the other table. */
const drop = (table: PartitionedTable, days: number) =>
  dropPartitions(table, days).pipe(
    Effect.tap((names) => names.length === 0 ? Effect.void : Effect.logInfo(`dropped ${names.join(", ")}`)),
    Effect.tapCause((cause) => Effect.logWarning(`old partitions of ${table} are dropped in the next round`, cause)),
    Effect.ignoreCause
  )

/**
 * Deletes what is left of deleted webhooks, a thousand rows at a time. A webhook is forgotten a day after it went: until
 * then an attempt that was under way, or an event that was being published, may leave one more row.
 */
const dropRemains = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const removed = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ webhook_id: WebhookId }),
    execute: () => sql`select webhook_id from removed_webhooks`
  })
  for (const { webhook_id } of yield* removed()) {
    while ((yield* eraseDeliveries(webhook_id)) > 0) continue
  }
  yield* Query.run(sql`delete from removed_webhooks where removed_at < now() - interval '1 day'`)
})

/** One round of {@link Retention}. */
export const retain = Effect.gen(function*() {
  const { deliveryRetentionDays, eventRetentionDays } = yield* AppConfig
  yield* makePartitions
  yield* drop("events", eventRetentionDays)
  yield* drop("webhook_deliveries", deliveryRetentionDays)
  yield* dropRemains
})

/** Makes room for the days to come, and drops what has served its time. */
export const Retention = PeriodicTask.make("Retention", "10 minutes", retain)
