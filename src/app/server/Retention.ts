import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountRemoval } from "../../accounts/AccountRemoval.ts"
import { accountsErasure, eraseByScan, eraseRows, Erasure } from "../../accounts/Erasure.ts"
import { apiKeysErasure } from "../../api-keys/ApiKeys.ts"
import { emailErasure } from "../../channels/email/EmailLayer.ts"
import { whatsappErasure } from "../../channels/whatsapp/WhatsAppLayer.ts"
import { failoversErasure } from "../../failovers/FailoversHttp.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { createPartitions, dropPartitions, type PartitionedTable } from "../../platform/database/Partitions.ts"
import * as Query from "../../platform/database/Query.ts"
import { RetentionClock } from "../../platform/database/RetentionClock.ts"
import { logRetry } from "../../platform/database/unavailable.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import { WebhookId } from "../../values/Ids.ts"
import { eraseDeliveries, webhooksErasure } from "../../webhooks/WebhooksHttp.ts"
import { markIds } from "./MessageRetention.ts"

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
  yield* Query.run(sql`delete from removed_webhooks where removed_at < ${RetentionClock.now(sql)} - interval '1 day'`)
})

/**
 * Bodies are needed for a day and a day of grace, and as long as older mail refers to them: until a day after its end, in which
 * a batch may be sent again.
 */
const dropBodies = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const needed = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ days: Schema.Int }),
    execute: () =>
      sql`select greatest(1, (${RetentionClock.now(sql)} at time zone 'UTC')::date - least(
          ((select min(created_at) from email_contents) at time zone 'UTC')::date,
          (select min(body_day) from email_batches where body_day is not null)
        )) as days`
  })
  const { days } = yield* needed()
  yield* drop("email_bodies", days)
})

/** Logs a failure, so that the other parts of a round go on. */
const attempt = <A, E, R>(what: string, part: Effect.Effect<A, E, R>) =>
  Effect.catchCause(part, (cause) => logRetry(`${what} failed`, cause))

/** One round of {@link Retention}. */
export const retain = Effect.gen(function*() {
  const { attemptRetentionDays, deliveryRetentionDays, eventRetentionDays, requestLogRetentionDays } = yield* AppConfig
  yield* RetentionClock.advance
  yield* drop("events", eventRetentionDays)
  yield* drop("webhook_deliveries", deliveryRetentionDays)
  yield* drop("message_attempts", attemptRetentionDays)
  yield* drop("request_log", requestLogRetentionDays)
  yield* attempt("dropping old bodies", dropBodies)
  // After the drops, which make room.
  yield* attempt("creating partitions", createPartitions(14))
  yield* attempt("marking ids", markIds)
  yield* attempt("erasing removed webhooks", eraseRemovedWebhooks)
})

/** Creates partitions for the next days and drops expired ones. */
export const Retention = PeriodicTask.make("Retention", "10 minutes", retain)

/**
 * The steps that erase an account, domain by domain. A domain that creates new rows comes before the domain of those
 * rows. A new domain adds its step here.
 */
export const ErasureSteps = Layer.succeed(Erasure, [
  apiKeysErasure,
  { name: "verify", some: eraseRows("verifications", "verification_blocks") },
  failoversErasure,
  emailErasure,
  whatsappErasure,
  { name: "templates", some: eraseRows("email_template_versions", "email_templates") },
  { name: "sending domains", some: eraseRows("email_domains") },
  ...webhooksErasure,
  {
    name: "messages",
    /** No waiting part of an SMS is submitted. The lanes let the statement find them by the index of turns. */
    atOnce: Effect.fnUntraced(function*(accountId) {
      const sql = yield* SqlClient.SqlClient
      yield* Query.run(sql`update sms_parts set status = 'failed', error_code = 'canceled', completed_at = now()
        where status = 'queued' and account_id = ${accountId}
          and (case when code_seed is not null then 0 else lane + 1 end) in (0, 1, 2, 3, 4)`)
    }),
    some: eraseRows("messages", "message_batches", "message_search", "message_search_blocks")
  },
  { name: "attempts", some: eraseByScan("message_attempts", "message_id") },
  { name: "usage", some: eraseRows("usage_daily", "usage_alerts", "message_stats", "message_stat_entries") },
  { name: "requests", some: eraseRows("request_log") },
  { name: "sandbox", some: eraseRows("sandbox_mails", "sandbox_sms", "sandbox_receivers", "sandbox_faults") },
  accountsErasure
])

/** Erases deleted accounts until none of their rows are left. */
export const AccountErasure = Layer.unwrap(
  Effect.map(AccountRemoval, ({ erase }) => PeriodicTask.make("AccountErasure", "5 seconds", erase))
)
