import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune } from "../../src/app/server/Pruning.ts"
import { retain } from "../../src/app/server/Retention.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { plansOf, rowsRead } from "../support/plans.ts"
import { makeAccount, makeKey } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Inserts a notice of this age, ended at once unless it is queued, prunes, and returns it if it is left. */
const pruned = Effect.fnUntraced(function*(status: "queued" | "sent" | "failed", age: string) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  yield* sql`insert into notices (account_id, kind, once, subject, body, status, created_at, completed_at)
    values (${accountId}, 'webhook_unhealthy', '7', 's', 'b', ${status}, now() - ${age}::interval,
      case when ${status}::text <> 'queued' then now() - ${age}::interval end)`
  yield* prune
  return yield* sql`select once from notices where account_id = ${accountId}`
})

layer(AppConfig.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })("pruning", (it) => {
  it.effect("a notice is removed 30 days after it ended, and a queued one stays", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pruned("sent", "31 days"), [])
      assert.deepStrictEqual(yield* pruned("failed", "31 days"), [])
      assert.lengthOf(yield* pruned("sent", "29 days"), 1)
      assert.lengthOf(yield* pruned("queued", "31 days"), 1)
    }))

  it.effect("a notice's deduplication key is released after a day, unless the notice is queued", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pruned("sent", "23 hours"), [{ once: "7" }])
      assert.deepStrictEqual(yield* pruned("sent", "25 hours"), [{ once: null }])
      assert.deepStrictEqual(yield* pruned("failed", "25 hours"), [{ once: null }])
      assert.deepStrictEqual(yield* pruned("queued", "25 hours"), [{ once: "7" }])
    }))

  it.effect("a webhook's previous secret is removed once its overlap is over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      for (
        const [url, until] of [["https://over.example/", "-1 second"], ["https://live.example/", "1 hour"]] as const
      ) {
        yield* sql`insert into webhooks
            (account_id, url, events, secret, secret_prefix, previous_secret, previous_secret_until)
          values (${accountId}, ${url}, '{}', 'new', 'whsec_', 'old', now() + ${until}::interval)`
      }
      yield* prune
      const rows = yield* sql`select url, previous_secret is null as gone, previous_secret_until is null as never
        from webhooks order by id`
      assert.deepStrictEqual(rows, [
        { url: "https://over.example/", gone: true, never: true },
        { url: "https://live.example/", gone: false, never: false }
      ])
    }))

  it.effect("a received WhatsApp row that became no message is removed after MESSAGE_RETENTION_DAYS, others stay", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`with session as (
          insert into whatsapp_sessions (account_id, session_key, name, data_key)
          values (${accountId}, ${`wa_${accountId}`}, 'Test', '') returning id
        ), message as (
          insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
          select ${accountId}::bigint, 'whatsapp', id, 'in', '+15550100300', 'text', '{"body": "Hello"}', 'received'
          from session returning id
        )
        insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id, done_at, message_id)
        select session.id, 'message', 'chat', given.name, now() - given.days * interval '1 day',
          case when given.name = 'message' then message.id end
        from session, message, (values ('old', 91), ('new', 89), ('message', 91), ('pending', null)) as given (name, days)`
      yield* prune
      const rows = yield* sql`select whatsapp_id from whatsapp_inbox i join whatsapp_sessions s on s.id = i.session_id
        where s.account_id = ${accountId} order by 1`
      assert.deepStrictEqual(rows.map((row) => row["whatsapp_id"]), ["message", "new", "pending"])
    }))

  it.effect("states of a WhatsApp session are noted from its first one, once for each change", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const [session] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key)
        values (${accountId}, ${`wa_${accountId}`}, 'Test', '') returning id`
      const id = Number(session?.["id"])
      for (const [status, reason] of [["connected", null], ["connected", null], ["failed", "replaced"]] as const) {
        yield* sql`update whatsapp_sessions set status = ${status}, reason = ${reason} where id = ${id}`
      }
      const rows =
        yield* sql`select status, reason from whatsapp_session_states where session_id = ${id} order by since`
      assert.deepStrictEqual(rows, [
        { status: "pending", reason: null },
        { status: "connected", reason: null },
        { status: "failed", reason: "replaced" }
      ])
    }))

  it.effect("states of a WhatsApp session are removed 30 days after their end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const ids = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key)
        select ${accountId}, ${`wa_${accountId}`} || which, 'Test', '' from unnest(array[1, 2]) as which returning id`
      const [changed, calm] = ids.map(({ id }) => Number(id))
      yield* sql`delete from whatsapp_session_states where session_id in (${changed}, ${calm})`
      yield* sql`insert into whatsapp_session_states (session_id, since, status)
        select id, now() - days * interval '1 day', 'pending'
        from (values (${changed}::bigint, 29), (${changed}, 31), (${changed}, 32), (${calm}, 400)) as given (id, days)`
      yield* prune
      const rows = yield* sql`select session_id, round(extract(epoch from now() - since) / 86400)::integer as days
        from whatsapp_session_states where session_id in (${changed}, ${calm}) order by session_id, days`
      assert.deepStrictEqual(rows, [
        { session_id: changed, days: 29 },
        { session_id: changed, days: 31 },
        { session_id: calm, days: 400 }
      ])
    }))

  it.effect("counts of a webhook's attempts are removed after two days", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into webhook_attempt_counts (webhook_id, hour, duration, succeeded, failed)
        select hours, now() - hours * interval '1 hour', 1, 1, 0 from unnest(array[1, 47, 49]) as hours`
      yield* prune
      const rows = yield* sql`select webhook_id as hours from webhook_attempt_counts order by 1`
      assert.deepStrictEqual(rows, [{ hours: 1 }, { hours: 47 }])
    }))

  it.effect("counts of a key's requests are removed once no page shows them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { keyId } = yield* makeAccount()
      yield* sql`insert into api_key_requests (key_id, day, succeeded, refused, failed)
        select ${keyId}, (now() at time zone 'UTC')::date - days, days, 0, 0 from unnest(array[0, 6, 8]) as days`
      yield* prune
      const rows = yield* sql`select succeeded from api_key_requests where key_id = ${keyId} order by 1`
      assert.deepStrictEqual(rows.map(({ succeeded }) => Number(succeeded)), [0, 6])
    }))

  it.effect("the accepted bytes of today and yesterday stay, because a day in UTC ends while its requests run", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`insert into accepted_bytes (account_id, day, bytes)
        select ${accountId}, (now() at time zone 'UTC')::date - days, days from unnest(array[0, 1, 2]) as days`
      yield* prune
      const rows = yield* sql`select bytes from accepted_bytes where account_id = ${accountId} order by 1`
      assert.deepStrictEqual(rows.map(({ bytes }) => Number(bytes)), [0, 1])
    }))

  it.effect("a key is removed 90 days after its end with its counts, and what it did stays in the audit log", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, keyId } = yield* makeAccount()
      const [ended, kept] = [yield* makeKey(accountId), yield* makeKey(accountId)]
      yield* sql`insert into audit_entries (account_id, actor, action) values (${accountId}, ${`key ${ended.id}`}, 'b')`
      yield* sql`insert into api_key_requests (key_id, day, succeeded, refused, failed)
        values (${ended.id}, (now() at time zone 'UTC')::date, 1, 0, 0)`
      for (const [{ id }, days] of [[ended, 91], [kept, 89]] as const) {
        yield* sql`update api_keys set expires_at = now() - ${days}::integer * interval '1 day' where id = ${id}`
      }
      yield* prune
      const left = yield* sql`select id from api_keys where account_id = ${accountId} order by id`
      assert.deepStrictEqual(left.map(({ id }) => Number(id)), [keyId, kept.id])
      assert.lengthOf(yield* sql`select from api_key_requests where key_id = ${ended.id}`, 0)
      assert.lengthOf(yield* sql`select from audit_entries where actor = ${`key ${ended.id}`}`, 1)
    }))

  it.effect("an email's contents are removed a day after its last recipient has ended", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const left: Array<string> = []
      for (
        const [status, age, ended] of [
          ["sent", "26 hours", "25 hours"],
          ["sent", "26 hours", "23 hours"],
          ["sent", "23 hours", "23 hours"],
          ["queued", "26 hours", null]
        ] as const
      ) {
        yield* sql`with record as (
            insert into email_messages (account_id, recipient, status, copies) values (${accountId}, 'a', 'sent', 2)
            returning id
          ), other as (
            insert into email_messages (account_id, recipient, status, part_of, completed_at)
            select ${accountId}::bigint, 'b', ${status}::text, id, now() - ${ended}::interval from record
          ), content as (
            insert into email_contents (id, account_id, message_id, created_at)
            select id, ${accountId}::bigint, 'm', now() - ${age}::interval from record
          )
          insert into email_parts (email_id, position, kind, content) select id, 1, 'text', 'x' from record`
        yield* prune
        const rows = yield* sql`select from email_parts`
        left.push(`${status} ${String(ended)}: ${rows.length}`)
        yield* sql`delete from email_contents`
      }
      assert.deepStrictEqual(left, ["sent 25 hours: 0", "sent 23 hours: 1", "sent 23 hours: 1", "queued null: 1"])
    }))

  it.effect("a WhatsApp message's body and file are removed after a day, unless it has not been sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const left: Array<string> = []
      for (
        const [status, age, isWritten] of [
          ["read", "25 hours", true],
          ["failed", "25 hours", true],
          ["failed", "1 hour", false],
          ["sent", "23 hours", true],
          ["queued", "25 hours", false],
          ["written", "25 hours", true]
        ] as const
      ) {
        yield* sql`with file as (
            insert into whatsapp_files (account_id, content, created_at)
            values (${accountId}, 'f', now() - ${age}::interval) returning id
          ), message as (
            insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
            values (${accountId}, 'whatsapp', 1, 'out', '+15550100300', 'image', '{"body": ""}', 'queued') returning id
          )
          insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, file_id, status, body, written_at)
          select message.id, 1, 'NAME', 0, file.id, ${status}::text, 'b',
            case when ${isWritten} then now() - ${age}::interval end from message, file`
        yield* prune
        const [row] = yield* sql`select count(body)::int as bodies, (select count(*)::int from whatsapp_files) as files
          from whatsapp_outbox`
        left.push(`${status} ${age}: ${String(row?.["bodies"])} ${String(row?.["files"])}`)
        yield* sql`delete from messages`
        yield* sql`delete from whatsapp_files`
      }
      assert.deepStrictEqual(left, [
        "read 25 hours: 0 0",
        "failed 25 hours: 0 0",
        "failed 1 hour: 0 1",
        "sent 23 hours: 1 1",
        "queued 25 hours: 1 1",
        "written 25 hours: 1 1"
      ])
    }))

  it.effect("a batch's file stays until its last message is sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`with file as (
          insert into whatsapp_files (account_id, content, created_at)
          values (${accountId}, 'f', now() - interval '25 hours') returning id
        ), message as (
          insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
          select ${accountId}::bigint, 'whatsapp', 1, 'out', '+15550100300', 'image', '{"body": ""}', 'queued'
          from generate_series(1, 2) returning id
        )
        insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, file_id, status)
        select message.id, 1, 'NAME' || message.id, 1, file.id, 'sent' from message, file`
      yield* sql`update whatsapp_outbox set status = 'queued'
        where message_id = (select max(message_id) from whatsapp_outbox)`
      const files = sql`select from whatsapp_files where account_id = ${accountId}`
      yield* prune
      assert.lengthOf(yield* files, 1)
      yield* sql`update whatsapp_outbox set status = 'sent'`
      yield* prune
      assert.lengthOf(yield* files, 0)
    }))

  it.effect("a round reads no batches that have nothing to expire", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, sent, status, created_at,
          body_day, completed_at)
        select 'b' || n, ${accountId}::bigint, 'a@b.example', case when n % 3 = 0 then 'Hello' else '' end, '', 1, 1,
          'completed', now() - n % 3 * interval '29 days', case when n % 300 = 0 then current_date end,
          now() - n % 3 * interval '29 days'
        from generate_series(1, 30000) as n`
      yield* sql`insert into message_batches (id, account_id, channel, total, status, created_at, completed_at)
        select 'b' || n, ${accountId}::bigint, 'sms', 1, 'completed', now(), now() from generate_series(1, 30000) as n`
      yield* sql`insert into failovers (id, account_id, status, created_at, completed_at)
        select 'b' || n, ${accountId}::bigint, 'sent', now(), now() from generate_series(1, 30000) as n`
      yield* sql`analyze email_batches, message_batches, failovers`
      for (const table of ["email_batches", "message_batches", "failovers"]) {
        const plans = [...(yield* plansOf(prune, table)), ...(yield* plansOf(retain, table))]
        assert.isNotEmpty(plans)
        for (const plan of plans) assert.isBelow(rowsRead(plan), 1_000, plan)
      }
      for (const table of ["email_batches", "message_batches", "failovers"]) yield* sql`delete from ${sql(table)}`
    }))

  it.effect("a row is removed at the age that its table promises, and not before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const at = (minutes: number) => sql`now() - ${minutes}::float8 * interval '1 minute'`
      const day = 24 * 60
      const verification = (id: string, ended: number) =>
        sql`insert into verifications (id, account_id, recipient, channel, code_seed, locale, expires_at, ended_at)
          values (${id}, ${accountId}, ${id}, 'email', '', 'en', now(), ${at(ended)})`
      const tables: ReadonlyArray<readonly [string, number, (minutes: number) => Effect.Effect<unknown, unknown>]> = [
        ["verifications", 30 * day, (minutes) => verification(`ver_${minutes}`, minutes)],
        ["verification_sends", 2 * day, (minutes) =>
          Effect.andThen(
            verification(`ver_of_${minutes}`, 0),
            sql`insert into verification_sends (verification_id, account_id, recipient, created_at)
              values (${`ver_of_${minutes}`}, ${accountId}, 'a', ${at(minutes)})`
          )],
        ["audit_entries", 400 * day, (minutes) =>
          sql`insert into audit_entries (account_id, actor, action, at) values (${accountId}, 'a', 'b', ${
            at(minutes)
          })`],
        ["plain_refusals", 30 * day, (minutes) =>
          sql`insert into plain_refusals (account_id, email, message_id, refused_at)
            values (${accountId}, 'a', 1, ${at(minutes)})`],
        ["login_guesses", day, (minutes) =>
          sql`insert into login_guesses (email_hash, client_network, failures, failed_at, retry_at)
            values ('a', 'b', 1, ${at(minutes)}, now())`],
        ["confirmation_mails", 60, (minutes) =>
          sql`insert into confirmation_mails (email_hash, sent_at) values ('a', array[${at(minutes)}])`],
        ["idempotency_records", day, (minutes) =>
          sql`insert into idempotency_records (scope, key, fingerprint, status, headers, body, created_at)
            values ('aged', 'k', '', 200, '{}', '', ${at(minutes)})`],
        ["message_stats", 400 * day, (minutes) =>
          sql`insert into message_stats (account_id, hour, channel, outcome, reason, count)
            values (${accountId}, ${at(minutes)}, 'sms', 'sent', '', 1)`],
        ["webhook_recoveries", 30 * day, (minutes) =>
          sql`with webhook as (
              insert into webhooks (account_id, url, events, secret, secret_prefix)
              values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_') returning id
            )
            insert into webhook_recoveries (webhook_id, since, until, statuses, position, ends_at, completed_at)
            select id, now(), now(), '{}', '', '', ${at(minutes)} from webhook`],
        ["rate_windows", 5, (minutes) =>
          sql`insert into rate_windows (bucket, starts_at, used) values ('a', ${at(minutes)}, 1)`]
      ]
      for (const [table, minutes, insert] of tables) {
        const left: Array<number> = []
        for (const age of [minutes + 1, minutes - 1]) {
          yield* sql`delete from ${sql(table)}`
          yield* insert(age)
          yield* prune
          left.push((yield* sql`select from ${sql(table)}`).length)
        }
        assert.deepStrictEqual(left, [0, 1], table)
      }
    }))

  it.effect("rows are removed in portions of 5,000, and all steps go on when one fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table portions (size integer)`
      yield* sql`create function count_portion() returns trigger language plpgsql as
        'begin insert into portions select count(*) from gone; return null; end'`
      yield* sql`create trigger portion after delete on plain_refusals referencing old table as gone
        for each statement execute function count_portion()`
      yield* sql`create function refuse() returns trigger language plpgsql as
        'begin raise exception ''refused''; end'`
      yield* sql`create trigger refuse before delete on idempotency_records for each row execute function refuse()`
      const { accountId } = yield* makeAccount()
      yield* sql`insert into idempotency_records (scope, key, fingerprint, status, headers, body, created_at)
        values ('s', 'k', '', 200, '{}', '', now() - interval '25 hours')`
      yield* sql`insert into plain_refusals (account_id, email, message_id, refused_at)
        select ${accountId}, 'a', n, now() - interval '31 days' from generate_series(1, 12000) as numbers (n)`
      yield* prune
      assert.deepStrictEqual(yield* sql`select size from portions where size > 0 order by size desc`, [
        { size: 5000 },
        { size: 5000 },
        { size: 2000 }
      ])
      yield* sql`drop trigger refuse on idempotency_records`
    }))

  it.effect("all other steps go on when those of old messages cannot be read", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`insert into plain_refusals (account_id, email, message_id, refused_at)
        values (${accountId}, 'a', 1, now() - interval '31 days')`
      yield* sql`alter table accounts rename message_retention_days to hidden`
      yield* prune
      yield* sql`alter table accounts rename hidden to message_retention_days`
      assert.lengthOf(yield* sql`select from plain_refusals where account_id = ${accountId}`, 0)
    }))

  it.effect("a row that a transaction holds stays for the next round, and the round does not wait for it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`insert into plain_refusals (account_id, email, message_id, refused_at)
        select ${accountId}, 'a', n, now() - interval '31 days' from generate_series(1, 2) as numbers (n)`
      const left = sql`select message_id from plain_refusals where account_id = ${accountId}`
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`select from plain_refusals where account_id = ${accountId} and message_id = 1 for update`
        yield* prune.pipe(Effect.provide(Layer.fresh(TestDatabase.layerClient)))
      }))
      assert.deepStrictEqual(yield* left, [{ message_id: 1 }])
      yield* prune
      assert.deepStrictEqual(yield* left, [])
    }))

  it.effect("a clock that leaps ahead removes no more than an hour's rows per round, and none after it is right again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Relative to these rows and to the retention clock, the database's clock has leapt 30 days ahead.
      yield* sql`update retention_clock set at = now() - interval '30 days'`
      for (const minutes of [30, 90, 150]) {
        yield* sql`insert into password_resets (token_hash, account_id, expires_at)
          values (${Buffer.from(String(minutes))}, ${(yield* makeAccount()).accountId},
            now() - interval '30 days 1 hour' + ${minutes} * interval '1 minute')`
      }
      const left: Array<number> = []
      for (let round = 0; round < 3; round++) {
        yield* prune
        left.push((yield* sql`select from password_resets`).length)
      }
      assert.deepStrictEqual(left, [2, 1, 0])
      yield* sql`update retention_clock set at = now() + interval '30 days'`
      yield* prune
      assert.lengthOf(yield* sql`select from retention_clock where at > now()`, 0)
    }))
})
