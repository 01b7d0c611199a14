import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountRemoval } from "../../accounts/AccountRemoval.ts"
import { accountsErasure, eraseRows, Erasure } from "../../accounts/Erasure.ts"
import { apiKeysErasure } from "../../api-keys/ApiKeys.ts"
import { emailErasure } from "../../channels/email/EmailLayer.ts"
import { whatsappErasure } from "../../channels/whatsapp/WhatsAppLayer.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { createPartitions, dropPartitions, type PartitionedTable } from "../../platform/database/Partitions.ts"
import * as Query from "../../platform/database/Query.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import { WebhookId } from "../../values/Ids.ts"
import { eraseDeliveries, webhooksErasure } from "../../webhooks/WebhooksHttp.ts"

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
  yield* createPartitions
  yield* drop("events", eventRetentionDays)
  yield* drop("webhook_deliveries", deliveryRetentionDays)
  yield* eraseRemovedWebhooks
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
  emailErasure,
  whatsappErasure,
  { name: "templates", some: eraseRows("email_templates") },
  { name: "sending domains", some: eraseRows("email_domains") },
  ...webhooksErasure,
  { name: "messages", some: eraseRows("messages", "message_batches") },
  { name: "usage", some: eraseRows("usage_daily", "usage_alerts") },
  accountsErasure
])

/** Erases deleted accounts until none of their rows are left. */
export const AccountErasure = Layer.unwrap(
  Effect.map(AccountRemoval, ({ erase }) => PeriodicTask.make("AccountErasure", "5 seconds", erase))
)

/**
 * One round of {@link Pruning}. Deletes rows that expired: rate windows after minutes, stored responses and sources of
 * sent messages after a day, revoked keys' hashes, verifications, notices and refusals after 30 days, audit entries
 * after 400. A notice that is still queued keeps its key, because the next one would say the same.
 */
export const prune = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Query.run(sql`delete from rate_windows where starts_at < now() - interval '5 minutes'`)
  yield* Query.run(sql`delete from idempotency_records where created_at < now() - interval '24 hours'`)
  yield* Query.run(sql`delete from revoked_api_keys where revoked_at < now() - interval '30 days'`)
  yield* Query.run(sql`delete from plain_refusals where refused_at < now() - interval '30 days'`)
  yield* Query.run(sql`delete from email_contents c where created_at < now() - interval '1 day' and not exists (
      select from email_messages m where (m.id = c.id or m.part_of = c.id) and m.status in ('queued', 'sending'))`)
  yield* Query.run(sql`update whatsapp_outbox set body = null
    where body is not null and status not in ('queued', 'written')
      and (written_at < now() - interval '1 day' or written_at is null)`)
  yield* Query.run(sql`delete from whatsapp_files f where created_at < now() - interval '1 day' and not exists (
      select from whatsapp_outbox o where o.file_id = f.id and o.status in ('queued', 'written'))`)
  yield* Query.run(sql`delete from verification_sends where created_at < now() - interval '2 days'`)
  yield* Query.run(sql`delete from verification_blocks where until < now()`)
  yield* Query.run(sql`delete from verifications where ended_at < now() - interval '30 days'`)
  yield* Query.run(sql`delete from login_sessions where expires_at < now()`)
  yield* Query.run(sql`delete from password_resets where expires_at < now() - interval '1 hour'`)
  yield* Query.run(sql`delete from audit_entries where at < now() - interval '400 days'`)
  yield* Query.run(sql`delete from notices where completed_at < now() - interval '30 days'`)
  yield* Query.run(sql`update notices set once = null
    where once is not null and status <> 'queued' and created_at < now() - interval '24 hours'`)
  yield* Query.run(sql`update webhooks set previous_secret = null, previous_secret_until = null
    where previous_secret is not null and previous_secret_until <= now()`)
})

/** Deletes expired rows. */
export const Pruning = PeriodicTask.make("Pruning", "1 minute", prune)
