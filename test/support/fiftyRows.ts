import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/values/Ids.ts"
import { connectedSession } from "../contract/samples.ts"
import { Service } from "./Service.ts"

/** Fills the main lists of an account with 50 rows each, some with long words and some written from right to left. */
export const fiftyRows = Effect.fnUntraced(function*(accountId: AccountId, key: string) {
  const { request } = yield* Service
  const sql = yield* SqlClient.SqlClient
  const session = yield* connectedSession(request, key)
  const numbers = sql`generate_series(1, 50) as numbers (i)`
  const words =
    sql`case i % 3 when 0 then repeat('word', 50) when 1 then 'طلبك في الطريق ' || i else 'Your order ' || i end`
  yield* sql`insert into email_messages (account_id, recipient, from_address, status, subject, error, tags, completed_at)
    select ${accountId}::bigint, 'reader' || i || '@people.example', 'us@people.example',
      (array['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'failed', 'suppressed', 'canceled'])[1 + i % 9],
      ${words}, case when i % 9 = 6 then '550 5.1.1 ' || repeat('x', 200) end, array['welcome', 'tag' || i], now()
    from ${numbers}`
  yield* sql`insert into messages (account_id, channel, direction, recipient, content, status, segments, cost_micros)
    select ${accountId}::bigint, 'sms', 'out', '+2507881234' || i + 10, jsonb_build_object('body', ${words}),
      (array['sent', 'delivered', 'failed'])[1 + i % 3], 1, 45000 from ${numbers}`
  yield* sql`insert into email_batches (id, account_id, status, from_address, subject, html, total, sent, failed)
    select 'email_batch_' || lpad((${accountId}::bigint * 1000 + i)::text, 26, '0'), ${accountId}::bigint, 'completed',
      'us@people.example', ${words}, '<p>Hello</p>', 100, 100 - i, i from ${numbers}`
  yield* sql`insert into suppressions (account_id, email, reason)
    select ${accountId}::bigint, repeat('a', i) || '@people.example',
      (array['unsubscribe', 'bounce', 'complaint', 'manual'])[1 + i % 4] from ${numbers}`
  yield* sql`insert into api_keys (account_id, name, key_hash, key_prefix, permissions)
    select ${accountId}::bigint, ${words}, sha256((${accountId}::bigint || '-' || i)::bytea), 'sk_live_' || 1000 + i,
      array['account:read', 'messages:write'] from ${numbers}`
  yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix, is_active, failure_count, unhealthy_reason)
    select ${accountId}::bigint, 'https://shop.example/' || repeat('hook', i), array['message.*'], 'x', 'whsec_1234',
      i % 5 <> 0, i % 4, case when i % 7 = 0 then 'failing' end from ${numbers}`
  yield* sql`insert into whatsapp_contacts (session_id, phone, name)
    select ${session}::bigint, '1555010' || 1000 + i, ${words} from ${numbers}`
  yield* sql`insert into verifications (id, account_id, recipient, channel, status, attempts, code_seed, locale, expires_at,
      country, ended_at)
    select 'ver_' || lpad((${accountId}::bigint * 1000 + i)::text, 26, '0'), ${accountId}::bigint, '+2507881234' || i + 10, 'sms',
      (array['approved', 'expired', 'max_attempts'])[1 + i % 3], i % 5, '6.' || repeat('a', 22) || '.0', 'en', now(),
      (array['RW', 'KE', 'US', 'DE'])[1 + i % 4], now() from ${numbers}`
  yield* Effect.forEach(
    Array.from({ length: 50 }),
    () => request("POST", "/v1/sms/send", { key, json: { to: "call me" } }),
    { concurrency: 5, discard: true }
  )
  return { session }
})
