import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"

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
