import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { markIds } from "../../src/app/server/MessageRetention.ts"
import { prune } from "../../src/app/server/Pruning.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { rebuildUsage } from "../../src/usage/rebuildUsage.ts"
import { cli } from "../support/cli.ts"
import { encryptionKey, makeAccount, Service } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Settings = AppConfig.layer.pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
    CONTENT_RETENTION_DAYS: "10",
    MESSAGE_RETENTION_DAYS: "20"
  })))
)

/** Stores that the newest ids are this old, and no other mark. */
const age = Effect.fnUntraced(function*(days: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from retention_marks`
  yield* sql`delete from retention_progress`
  yield* sql`delete from retention_late`
  yield* markIds
  yield* sql`update retention_marks set at = now() - ${days}::integer * interval '1 day' - interval '1 hour'`
})

const insertEmail = Effect.fnUntraced(function*(accountId: number, status: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`insert into email_messages (account_id, recipient, from_address, variables, subject, status)
    values (${accountId}, 'a@people.example', 'us@b.example', '{"name": "Ada"}', 'Hello', ${status}) returning id`
  const id = Number(row?.["id"])
  yield* sql`insert into email_clicks (message_id, link, clicked_at) values (${id}, 0, now())`
  return id
})

const insertSms = Effect.fnUntraced(function*(accountId: number, status: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`insert into messages (account_id, channel, direction, recipient, content, status, segments,
      cost_micros)
    values (${accountId}, 'sms', 'out', '+250788000001', '{"body": "Hello"}', ${status}, 1, 0) returning id`
  const id = Number(row?.["id"])
  yield* sql`insert into sms_parts (message_id, part_no, parts, encoding, body, lane, status)
    values (${id}, 1, 1, 'gsm7', 'Hello', 0, ${status})`
  return id
})

/** What is left of an email and of an SMS: everything, the record without its text, or nothing. */
const leftOf = Effect.fnUntraced(function*(email: number, sms: number) {
  const sql = yield* SqlClient.SqlClient
  const emails = yield* sql`select subject, variables::text from email_messages where id = ${email}`
  const messages =
    yield* sql`select m.content::text as content, p.body from messages m join sms_parts p on p.message_id = m.id
    where m.id = ${sms}`
  const state = (row: Readonly<Record<string, unknown>> | undefined, erased: object) =>
    row === undefined ? "gone" : JSON.stringify(row) === JSON.stringify(erased) ? "without text" : "whole"
  return [
    state(emails[0], { subject: null, variables: "{}" }),
    state(messages[0], { content: "null", body: "" })
  ]
})

layer(Settings.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "message retention",
  (it) => {
    it.effect("erases texts first and records later, and nothing that waits to be sent or is newer", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const old = [yield* insertEmail(accountId, "sent"), yield* insertSms(accountId, "sent")] as const
        const waiting = [yield* insertEmail(accountId, "queued"), yield* insertSms(accountId, "queued")] as const
        const seen: Array<ReadonlyArray<string>> = []
        for (const days of [9, 10, 19, 20]) {
          yield* age(days)
          yield* prune
          seen.push(yield* leftOf(...old))
        }
        assert.deepStrictEqual(seen, [
          ["whole", "whole"],
          ["without text", "without text"],
          ["without text", "without text"],
          ["gone", "gone"]
        ])
        assert.deepStrictEqual(yield* leftOf(...waiting), ["whole", "whole"])
        assert.lengthOf(yield* sql`select from email_clicks where message_id = ${old[0]}`, 0)
        const fresh = [yield* insertEmail(accountId, "sent"), yield* insertSms(accountId, "sent")] as const
        yield* prune
        assert.deepStrictEqual(yield* leftOf(...fresh), ["whole", "whole"])
      }))

    it.effect("counts the days of a scheduled message and of its batch from the time that they are sent at", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const ids = [yield* insertEmail(accountId, "queued"), yield* insertSms(accountId, "queued")] as const
        yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, status, created_at,
            completed_at)
          select 'late_email', ${accountId}::bigint, 'a@b.example', 'Hello', '', 1, 'completed', now() - interval '90 days',
            now()`
        yield* sql`insert into message_batches (id, account_id, channel, total, created_at, completed_at)
          select 'late_sms', ${accountId}::bigint, 'sms', 1, now() - interval '90 days', now()`
        yield* sql`insert into failovers (id, account_id, created_at, completed_at)
          select 'late_failover', ${accountId}::bigint, now() - interval '90 days', now()`
        const seen: Array<ReadonlyArray<string>> = []
        const batches: Array<number> = []
        yield* age(20)
        for (
          const [status, sentDaysAgo] of [["scheduled", -5], ["sent", 0], ["sent", 9], ["sent", 11], [
            "sent",
            21
          ]] as const
        ) {
          for (const table of ["email_messages", "messages", "email_batches", "message_batches", "failovers"]) {
            yield* sql`update ${sql(table)} set send_at = now() - ${sentDaysAgo}::integer * interval '1 day'
              where account_id = ${accountId}`
          }
          for (const table of ["email_messages", "messages"]) {
            yield* sql`update ${sql(table)} set status = ${status} where account_id = ${accountId}`
          }
          yield* sql`update retention_late set due = least(due, now() - ${
            sentDaysAgo - 10
          }::integer * interval '1 day')`
          yield* prune
          seen.push(yield* leftOf(...ids))
          const kept = yield* sql`select id from email_batches where account_id = ${accountId}
            union all select id from message_batches where account_id = ${accountId}
            union all select id from failovers where account_id = ${accountId}`
          batches.push(kept.length)
        }
        assert.deepStrictEqual(seen, [
          ["whole", "whole"],
          ["whole", "whole"],
          ["whole", "whole"],
          ["without text", "without text"],
          ["gone", "gone"]
        ])
        assert.deepStrictEqual(batches, [3, 3, 3, 3, 0])
        const late = sql`select from retention_late
          where (name, id) in (('email_messages', ${ids[0]}), ('messages', ${ids[1]}))`
        assert.lengthOf(yield* late, 0)
      }))

    it.effect("erases the texts of what waited past their days once it has ended", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const ids = [yield* insertEmail(accountId, "queued"), yield* insertSms(accountId, "queued")] as const
        yield* age(11)
        yield* prune
        assert.deepStrictEqual(yield* leftOf(...ids), ["whole", "whole"])
        for (const table of ["email_messages", "messages"]) {
          yield* sql`update ${sql(table)} set status = 'sent' where account_id = ${accountId}`
        }
        yield* prune
        assert.deepStrictEqual(yield* leftOf(...ids), ["without text", "without text"])
      }))

    it.effect("keeps an email to several recipients as it is while one of them waits", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const ids: Array<number> = []
        for (const statuses of [["suppressed", "queued"], ["queued", "sent"], ["sent", "sending", "sent"]]) {
          const [record = 0, ...others] = yield* Effect.forEach(statuses, (status) => insertEmail(accountId, status))
          yield* sql`update email_messages set part_of = ${record} where id in ${sql.in(others)}`
          ids.push(record, ...others)
        }
        const left = Effect.map(
          sql`select subject from email_messages where id in ${sql.in(ids)}`,
          (rows) => rows.map(({ subject }) => subject)
        )
        for (const days of [10, 20]) {
          yield* age(days)
          yield* prune
          assert.deepStrictEqual(yield* left, ids.map(() => "Hello"))
        }
        yield* sql`update email_messages set status = 'sent' where id in ${sql.in(ids)}`
        yield* age(10)
        yield* prune
        assert.deepStrictEqual(yield* left, ids.map(() => null))
        yield* age(20)
        yield* prune
        assert.deepStrictEqual(yield* left, [])
      }))

    it.effect("keeps the values of a batch's recipients until a day after its end, however old the batch is", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, status, created_at)
          values ('long_batch', ${accountId}, 'a@b.example', 'Hello', '<p>', 1, 'processing', now() - interval '90 days')`
        const id = yield* insertEmail(accountId, "failed")
        yield* sql`update email_messages set batch_id = 'long_batch', position = 0 where id = ${id}`
        const read = Effect.map(
          sql`select b.subject, m.variables->>'name' as name from email_messages m join email_batches b on b.id = m.batch_id
            where m.id = ${id}`,
          ([row]) => row === undefined ? "gone" : `${String(row["subject"])} ${String(row["name"])}`
        )
        const seen: Array<string> = []
        yield* age(20)
        for (const hours of [undefined, 23, 25]) {
          if (hours !== undefined) {
            yield* sql`update email_batches set completed_at = now() - ${hours}::integer * interval '1 hour'
              where account_id = ${accountId}`
          }
          // As if its time had come.
          yield* sql`update retention_late set due = now() - interval '1 hour'`
          yield* prune
          seen.push(yield* read)
        }
        assert.deepStrictEqual(seen, ["Hello Ada", "Hello Ada", "gone"])
      }))

    it.effect("deletes a block of the search after its last record", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const blocks = sql`select channel, first_id::integer as first from message_search_blocks
          where account_id = ${accountId} order by channel, first_id`
        const ids = [
          ["email", yield* insertEmail(accountId, "sent")],
          ["email", yield* insertEmail(accountId, "queued")],
          ["sms", yield* insertSms(accountId, "sent")]
        ] as const
        for (const [channel, id] of ids) {
          yield* sql`insert into message_search (account_id, channel, message_id, block, words)
            values (${accountId}, ${channel}, ${id}, ${id}, 'hello')`
          yield* sql`insert into message_search_blocks values (${accountId}, ${channel}, ${id}, ${id}, 1)`
        }
        yield* age(19)
        yield* prune
        assert.lengthOf(yield* blocks, 3)
        yield* age(20)
        yield* prune
        assert.deepStrictEqual((yield* blocks).map((row) => ({ ...row })), [{ channel: "email", first: ids[1][1] }])
      }))

    it.effect("deletes more records than one statement takes", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        yield* sql`insert into email_messages (account_id, recipient, status)
          select ${accountId}::bigint, 'a', 'sent' from generate_series(1, 12000)`
        yield* age(20)
        yield* prune
        assert.lengthOf(yield* sql`select from email_messages where account_id = ${accountId}`, 0)
      }))

    it.effect("keeps an account's messages for fewer days when the operator says so", () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const [short, other] = [yield* makeAccount(), yield* makeAccount()]
        const set = (...words: ReadonlyArray<string>) =>
          cli(["account", "retention", String(short.accountId), ...words], {
            DATABASE_URL: url,
            ENCRYPTION_KEY: encryptionKey
          })
        const { code, stdout } = yield* set("--messages", "3", "--content", "1")
        assert.deepStrictEqual([code, stdout.includes("keeps messages 3 days, and their texts 1 day")], [0, true])
        const own = [yield* insertEmail(short.accountId, "sent"), yield* insertSms(short.accountId, "sent")] as const
        const others = [yield* insertEmail(other.accountId, "sent"), yield* insertSms(other.accountId, "sent")] as const
        const seen: Array<ReadonlyArray<string>> = []
        for (const days of [1, 3]) {
          yield* age(days)
          yield* prune
          seen.push(yield* leftOf(...own))
        }
        assert.deepStrictEqual(seen, [["without text", "without text"], ["gone", "gone"]])
        assert.deepStrictEqual(yield* leftOf(...others), ["whole", "whole"])
        assert.strictEqual((yield* set("--messages", "0")).code, 1)
        assert.strictEqual((yield* set()).code, 0)
      }))

    it.effect("erases a batch's texts a day after its end, and the batch after its messages", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const seen: Array<string> = []
        const id = "email_batch_retention"
        for (const [days, left] of [[0, 1], [2, 1], [12, 1], [30, 1], [30, 0]] as const) {
          yield* sql`delete from email_batches where id = ${id}`
          yield* sql`delete from email_messages where batch_id = ${id}`
          yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, status, created_at,
              completed_at)
            select ${id}, ${accountId}::bigint, 'a@b.example', 'Hello', '<p>', 1, 'completed', at, at
            from (values (now() - ${days}::integer * interval '1 day' - interval '1 hour')) as t (at)`
          yield* sql`insert into email_messages (account_id, batch_id, recipient, status)
            select ${accountId}::bigint, ${id}, 'a', 'sent' from generate_series(1, ${left}::integer)`
          yield* age(0)
          yield* prune
          const [row] = yield* sql`select subject, html from email_batches where id = ${id}`
          seen.push(row === undefined ? "gone" : `${String(row["subject"])} ${String(row["html"])}`)
        }
        assert.deepStrictEqual(seen, ["Hello <p>", "Hello ", " ", " ", "gone"])
      }))

    it.effect("keeps the counts of days whose messages have expired when usage is recounted", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        yield* sql`insert into email_messages (account_id, recipient, status, created_at)
          values (${accountId}, 'a', 'queued', now()), (${accountId}, 'a', 'sent', now() - interval '25 days')`
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
          select ${accountId}::bigint, (now() at time zone 'UTC')::date - days, 'email', 1, 1, 0
          from unnest(array[0, 25]) as t (days)`
        yield* age(20)
        yield* prune
        yield* rebuildUsage
        const counts = yield* sql`select (now() at time zone 'UTC')::date - day as days, count::integer as count
          from usage_daily where account_id = ${accountId} order by 1`
        assert.deepStrictEqual(counts, [{ days: 0, count: 1 }, { days: 25, count: 1 }])
      }))

    it.effect("stores how far the ids are once an hour", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`delete from retention_marks`
        yield* markIds
        yield* markIds
        assert.lengthOf(yield* sql`select from retention_marks`, 1)
        yield* sql`update retention_marks set at = at - interval '61 minutes'`
        yield* markIds
        assert.lengthOf(yield* sql`select from retention_marks`, 2)
      }))
  }
)

layer(Settings.pipe(Layer.provideMerge(Service.layer())), { excludeTestServices: true })(
  "an expired message",
  (it) => {
    it.effect("has no content in answers, and later answers 404", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId, key } = yield* makeAccount()
        const [email, sms] = [yield* insertEmail(accountId, "sent"), yield* insertSms(accountId, "sent")]
        yield* age(10)
        yield* prune
        const read = yield* request("GET", `/v1/sms/messages/${sms}`, { key })
        assert.deepStrictEqual([read.status, read.at("data", "content")], [200, null])
        const list = yield* request("GET", "/v1/sms/messages", { key })
        assert.deepStrictEqual([list.status, list.at("data", 0, "content")], [200, null])
        const mail = yield* request("GET", `/v1/email/messages/${email}`, { key })
        assert.deepStrictEqual([mail.status, mail.at("data", "subject")], [200, ""])
        yield* age(20)
        yield* prune
        for (const path of [`/v1/sms/messages/${sms}`, `/v1/email/messages/${email}`]) {
          assert.strictEqual((yield* request("GET", path, { key })).status, 404)
        }
      }))
  }
)
