import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { faultHours } from "../../messages/SandboxFault.ts"
import { RetentionClock } from "../../platform/database/RetentionClock.ts"
import { logRetry } from "../../platform/database/unavailable.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import { messageSteps } from "./MessageRetention.ts"
import { portions, portionSize, type Step } from "./portions.ts"

/**
 * Rate windows expire after minutes, planned faults and counts of confirmation mails after an hour, stored responses and
 * sources of sent messages after a day, counts of webhooks' attempts after two days, revoked keys' hashes, verifications, notices, recoveries and refusals after
 * 30 days, states of WhatsApp sessions 30 days and API keys 90 days after their end, audit entries and statistics after 400. A
 * notice that is still queued keeps its key, because the next one would say the same.
 */
const stepsOf = (sql: SqlClient.SqlClient): ReadonlyArray<Step> => {
  const { clears, deletes } = portions(sql)
  const now = RetentionClock.now(sql)
  return [
    deletes("rate_windows", sql`starts_at < ${now} - interval '5 minutes'`),
    deletes("idempotency_records", sql`created_at < ${now} - interval '24 hours'`),
    deletes("sandbox_faults", sql`created_at < ${now} - make_interval(hours => ${faultHours}::integer)`),
    deletes("revoked_api_keys", sql`revoked_at < ${now} - interval '30 days'`),
    deletes("plain_refusals", sql`refused_at < ${now} - interval '30 days'`),
    deletes(
      "email_contents",
      sql`created_at < ${now} - interval '1 day' and not exists (select from email_messages m
        where (m.id = email_contents.id or m.part_of = email_contents.id)
          and (m.status in ('scheduled', 'queued', 'sending') or m.completed_at > ${now} - interval '1 day'))`
    ),
    clears(
      "whatsapp_outbox",
      sql`body = null`,
      sql`body is not null and status not in ('scheduled', 'queued', 'written')
        and (written_at < ${now} - interval '1 day' or written_at is null)`
    ),
    deletes(
      "whatsapp_files",
      sql`created_at < ${now} - interval '1 day' and not exists (select from whatsapp_outbox o
        where o.file_id = whatsapp_files.id and o.status in ('scheduled', 'queued', 'written'))`
    ),
    deletes("verification_sends", sql`created_at < ${now} - interval '2 days'`),
    deletes("verification_blocks", sql`until < ${now}`),
    deletes("verifications", sql`ended_at < ${now} - interval '30 days'`),
    deletes("login_guesses", sql`failed_at < ${now} - interval '1 day'`),
    deletes("confirmation_mails", sql`sent_at[1] < ${now} - interval '1 hour'`),
    deletes("api_keys", sql`expires_at < ${now} - interval '90 days'`),
    ...["login_sessions", "setup_links", "passkey_challenges"].map((table) => deletes(table, sql`expires_at < ${now}`)),
    deletes("password_resets", sql`expires_at < ${now} - interval '1 hour'`),
    deletes("email_changes", sql`expires_at < ${now} - interval '1 hour'`),
    deletes("accepted_bytes", sql`day < (${now} at time zone 'UTC')::date - 1`),
    deletes("api_key_requests", sql`day < (${now} at time zone 'UTC')::date - 7`),
    deletes("webhook_attempt_counts", sql`hour < ${now} - interval '2 days'`),
    deletes(
      "whatsapp_session_states",
      sql`since < ${now} - interval '30 days' and exists (select from whatsapp_session_states next
        where next.session_id = whatsapp_session_states.session_id and next.since > whatsapp_session_states.since
          and next.since < ${now} - interval '30 days')`
    ),
    deletes("audit_entries", sql`at < ${now} - interval '400 days'`),
    deletes("message_stats", sql`hour < ${now} - interval '400 days'`),
    deletes("webhook_recoveries", sql`completed_at < ${now} - interval '30 days'`),
    deletes("notices", sql`completed_at < ${now} - interval '30 days'`),
    clears(
      "notices",
      sql`once = null`,
      sql`once is not null and status <> 'queued' and created_at < ${now} - interval '24 hours'`
    ),
    clears(
      "webhooks",
      sql`previous_secret = null, previous_secret_until = null`,
      sql`previous_secret is not null and previous_secret_until <= ${now}`
    )
  ]
}

/** Runs one portion of a step. True if more rows may be left; a step that fails waits for the next round. */
const hasMore = ({ portion, table }: Step) =>
  Effect.map(portion, (count) => count === portionSize).pipe(
    Effect.catchCause((cause) => Effect.as(logRetry(`pruning ${table} failed`, cause), false))
  )

/** None when they cannot be read, so that the other steps go on. */
const stepsOfMessages = messageSteps.pipe(
  Effect.catchCause((cause) => Effect.as(logRetry("pruning messages failed", cause), []))
)

/** One round of {@link Pruning}. The steps take turns, so that none waits for the whole of another one. */
export const prune = Effect.gen(function*() {
  yield* RetentionClock.advance
  let steps = [...stepsOf(yield* SqlClient.SqlClient), ...(yield* stepsOfMessages)]
  while (steps.length > 0) steps = yield* Effect.filter(steps, hasMore)
})

/** Deletes expired rows. */
export const Pruning = PeriodicTask.make("Pruning", "1 minute", prune)
