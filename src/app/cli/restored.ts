import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { SqlClient, type Statement } from "effect/sql"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import * as Query from "../../platform/database/Query.ts"
import { TimestampInput } from "../../values/Timestamp.ts"

const reason = "The service was restored from a backup before this was sent."

/** Waiting deliveries, and recoveries that would queue more. */
const deliveries = (sql: SqlClient.SqlClient, before: string) =>
  sql`with ended as (
      delete from webhook_queue where created_at < ${before}::timestamptz returning *
    ), recorded as (
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, error,
        created_at)
      select webhook_id, id, event_id, event, 'skipped', is_test, attempt_count, attempts, 'restored', created_at
      from ended
    ), recoveries as (
      update webhook_recoveries set is_canceled = true, completed_at = now()
      where completed_at is null and created_at < ${before}::timestamptz
    )
    select count(*) as count from ended`

/**
 * What may have been sent already after the backup was made. Each statement ends the queued rows that were made and due before
 * a moment, and counts them. It publishes no events, because they would be sent twice as well. Requests for new passwords
 * store no time: nodes answer them within seconds, so those that wait were made after a moment that is given.
 */
const statements = (sql: SqlClient.SqlClient, before: string): Readonly<Record<string, Statement.Fragment>> => ({
  "email recipients": sql`with ended as (
      update email_messages set status = 'canceled', due_at = null, completed_at = now(), error = ${reason}
      where status in ('scheduled', 'queued', 'sending') and created_at < ${before}::timestamptz
        and (send_at is null or send_at <= ${before}::timestamptz)
      returning batch_id
    ), counted as (
      update email_batches b set canceled = b.canceled + e.count, status = 'canceled', completed_at = now()
      from (select batch_id, count(*) as count from ended where batch_id is not null group by batch_id) e
      where b.id = e.batch_id
    )
    select count(*) as count from ended`,
  "SMS and WhatsApp messages": sql`with ended as (
      update messages set status = 'canceled', error_code = 'canceled', error_message = ${reason}, failed_at = now()
      where direction = 'out' and status in ('scheduled', 'queued', 'sending') and created_at < ${before}::timestamptz
        and (send_at is null or send_at <= ${before}::timestamptz)
      returning id, batch_id
    ), parts as (
      update sms_parts p set status = 'failed', due_at = null, error_code = 'canceled', completed_at = now()
      from ended where p.message_id = ended.id and p.status in ('queued', 'sending')
    ), outgoing as (
      update whatsapp_outbox o set status = 'failed', body = null from ended
      where o.message_id = ended.id and o.status in ('scheduled', 'queued', 'written')
    ), counted as (
      update message_batches b set canceled = b.canceled + e.count, status = 'canceled', completed_at = now()
      from (select batch_id, count(*) as count from ended where batch_id is not null group by batch_id) e
      where b.id = e.batch_id
    )
    select count(*) as count from ended`,
  // Before their actors see the canceled messages, and go on with the next channel.
  "messages with failover": sql`with ended as (
      update failovers set canceled_at = now(), completed_at = now(), due_at = null, updated_at = now(),
        status = case when status in ('scheduled', 'queued', 'processing') then 'canceled' else status end
      where completed_at is null and created_at < ${before}::timestamptz and (send_at is null or send_at <= ${before}::timestamptz)
      returning id
    ), forgotten as (
      update failover_steps s set request = null from ended where s.failover_id = ended.id
    )
    select count(*) as count from ended`,
  "webhook deliveries": deliveries(sql, before),
  "notices to owners": sql`with requests as (delete from password_reset_requests where ${before} = 'now'), ended as (
      update notices set status = 'failed', due_at = null, completed_at = now(), sealed_body = null, error = ${reason}
      where status = 'queued' and created_at < ${before}::timestamptz returning 1
    )
    select count(*) as count from ended`,
  "one-time codes": sql`with ended as (
      update verifications set status = 'expired', ended_at = now(), channels_left = '{}'
      where status = 'pending' and created_at < ${before}::timestamptz returning 1
    )
    select count(*) as count from ended`,
  // The keys of a session change with every message. Those of the backup are old, and would break its conversations.
  "WhatsApp sessions": sql`with ended as (
      update whatsapp_sessions set desired = 'off', status = 'failed', reason = 'logged_out', is_paired = false,
        is_replaced = false, failures = 0, retry_at = null, epoch = epoch + 1, pairing = pairing + 1, updated_at = now()
      where desired <> 'removed' and is_paired returning id
    ), erased as (
      delete from whatsapp_keys using ended where session_id = ended.id
    )
    select count(*) as count from ended`
})

/** Ends everything that was queued before a moment, and logs all WhatsApp sessions out, all or nothing. */
const endQueued = Effect.fnUntraced(function*(before: string) {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const end = (statement: Statement.Fragment) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ count: Schema.Int }),
      execute: () => sql`${statement}`
    })()
  return yield* transaction(
    Effect.forEach(
      Object.entries(statements(sql, before)),
      ([name, statement]) => Effect.map(end(statement), ({ count }) => ({ name, count }))
    )
  )
})

/** Needs no running node. */
const OnDatabase = Database.layer.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer))

export const restored = Command.make(
  "restored",
  {
    before: Flag.String("before").pipe(
      Flag.withDescription("The moment of the restore, such as 2026-01-31T10:00:00Z. Default: now"),
      Flag.withSchema(TimestampInput),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ before }) {
    const end = Option.getOrElse(before, () => "now")
    for (const { count, name } of yield* endQueued(end)) yield* Console.log(`${name}: ${count}`)
    yield* Console.log(`Everything that was queued before ${end} has ended. Restart the nodes without PAUSED.`)
  }, Effect.provide(OnDatabase))
).pipe(
  Command.withDescription(
    "After restoring a backup: end what was queued before a moment, and log WhatsApp sessions out"
  )
)
