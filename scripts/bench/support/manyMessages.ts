/** Many messages of a hundred accounts, with their search and attempts, as if they had been sent. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { blockSize } from "../../../src/history/SearchRepo.ts"
import { recreatePartitions } from "../../../test/support/partitions.ts"
import { fillSearch } from "../../../test/support/searchIndex.ts"

/** The words of a text: the rank falls with the cube, so the first ten words are in every third text. */
const words = (count: number) => Array.from({ length: count }, () => `'w' || (power(random(), 3) * 20000)::integer`)

/** Half of the messages are the account's; the others belong to 99 accounts. Two thirds are emails. */
export const fillMessages = Effect.fnUntraced(function*(messages: number) {
  const sql = yield* SqlClient.SqlClient
  const owner = "case when i % 2 = 0 then 1 else 2 + i % 99 end"
  yield* sql`insert into accounts (name, email, plan) select 'Bench', 'a' || i || '@bench.example', 'enterprise'
    from generate_series(1, 100) as numbers (i)`
  const [index] = yield* sql`select indexdef from pg_indexes where indexname = 'message_search_terms'`
  yield* sql`drop index message_search_terms`
  const text = words(12).join(" || ' ' || ")
  yield* sql.unsafe(
    `insert into email_messages (account_id, recipient, from_address, status, subject, sent_at, completed_at, created_at)
    select ${owner}, 'reader' || i % 50000 || '@host' || i % 500 || '.example', 'us@bench.example', (array['sent', 'delivered', 'opened', 'clicked',
      'bounced'])[case when i % 50 = 0 then 5 else 1 + (i / 2) % 4 end], ${text}, now(), now(), now() - (${messages} - i) * interval '1 second'
    from generate_series(1, ${messages} * 4 / 3) as numbers (i)`
  )
  yield* sql.unsafe(`insert into messages (account_id, channel, direction, recipient, content, status, created_at)
    select ${owner}, case when (i / 2) % 2 = 0 then 'sms' else 'whatsapp' end, 'out', '+2507' || 10000000 + i % 40000,
      jsonb_build_object('body', ${text}), 'delivered', now() - (${messages} - i) * interval '1 second'
    from generate_series(1, ${messages} * 2 / 3) as numbers (i)`)
  yield* fillSearch(
    `select account_id, 'email' as channel, id, subject || ' >' || recipient || ' ' || translate(recipient, '@.', '  ')
        || ' <bench.example #' || id % 10000 as text
      from email_messages
    union all
    select account_id, channel, id, content ->> 'body' || ' >' || substr(recipient, 2) || ' ' || substr(recipient, 2) || ' #1'
      from messages`,
    blockSize
  )
  yield* sql.unsafe(String(index?.["indexdef"]))
  yield* sql`vacuum analyze`
})

/** Ten attempts of each message of 30 days, and one message with 200 entries. */
export const fillAttempts = Effect.fnUntraced(function*(attempts: number) {
  const sql = yield* SqlClient.SqlClient
  yield* recreatePartitions(-31, 14)
  yield* sql`insert into message_attempts (account_id, channel, message_id, recipient, at, attempt, outcome, duration_ms, peer,
      reply)
    select 1, 'email', 1000 + i / 10, 'reader@host.example', now() - (30 - 30 * i::float8 / ${attempts}::integer)
      * interval '1 day', 1 + i % 10, 'deferred', 20, '192.0.2.1', '450 4.2.0 Greylisted'
    from generate_series(1, ${attempts}::integer) as numbers (i)`
  yield* sql`update email_messages set created_at = now() - interval '29 days', status = 'sent', sent_at = now(),
    completed_at = now() where id = 2`
  yield* sql`insert into message_attempts (account_id, channel, message_id, recipient, at, attempt, outcome, duration_ms, peer,
      reply)
    select 1, 'email', 2, 'reader@host.example', now() - i * interval '6 hours', i, 'deferred', 20, '192.0.2.1',
      '450 4.2.0 Greylisted' from generate_series(1, 60) as numbers (i)`
  yield* sql`with happened as (
      insert into events (id, account_id, name, body, channel, message_id, created_at, webhook_ids, delivery_ids)
      select 'evt_' || ulid_time(now() - i * interval '1 minute') || lpad(i::text, 16, '0'), 1, 'email.opened', 'x', 'email', 2,
        now() - i * interval '1 minute', array[1::bigint], array[nextval('webhook_delivery_ids')]
      from generate_series(1, 40) as numbers (i) returning id, created_at, delivery_ids
    )
    insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at, completed_at)
    select 1, delivery_ids[1], id, 'email.opened', 'delivered', 1, created_at, created_at from happened`
  yield* sql`vacuum analyze message_attempts, events, webhook_deliveries`
})
