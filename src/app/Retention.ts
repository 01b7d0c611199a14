import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { dropPartitions, makePartitions, type PartitionedTable } from "../platform/database/Partitions.ts"
import * as Query from "../platform/database/Query.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { WebhookId } from "../values/Ids.ts"
import { eraseDeliveries } from "../webhooks/webhooksErasure.ts"

/** If the table is in use, its partition stays until the next round. The other table is not affected. */
const drop = (table: PartitionedTable, days: number) =>
  dropPartitions(table, days).pipe(
    Effect.tap((names) => names.length === 0 ? Effect.void : Effect.logInfo(`dropped ${names.join(", ")}`)),
    Effect.tapCause((cause) => Effect.logWarning(`dropping old partitions of ${table} failed`, cause)),
    Effect.ignoreCause
  )

/**
 * Deletes the rows of removed webhooks, a thousand at a time. The webhook's record stays for a day, because an attempt
 * or a publish in flight may still add a row.
 */
const eraseRemovedWebhooks = Effect.gen(function*() {
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
  yield* eraseRemovedWebhooks
})

/** Creates partitions for the next days and drops expired ones. */
export const Retention = PeriodicTask.make("Retention", "10 minutes", retain)
