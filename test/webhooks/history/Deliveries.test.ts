import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestRunner } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../src/platform/crypto/ids.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { PublicHttp } from "../../../src/platform/net/PublicHttp.ts"
import { DeliveryId, EventId, WebhookId } from "../../../src/values/Ids.ts"
import type { Window } from "../../../src/values/Page.ts"
import { Targets } from "../../../src/webhooks/endpoint/WebhooksRepo.ts"
import { Deliveries, type DeliveryFilter } from "../../../src/webhooks/history/Deliveries.ts"
import { recreatePartitions } from "../../support/partitions.ts"
import { plansOf, rowsRead } from "../../support/plans.ts"
import { makeAccount } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Subject = Deliveries.layer.pipe(
  Layer.provide([
    AppConfig.layer,
    Vault.layer(Redacted.make(new Uint8Array(32))),
    Layer.succeed(PublicHttp, PublicHttp.of({ post: () => Effect.never })),
    TestRunner.layer,
    Targets.layer
  ]),
  Layer.provideMerge(TestDatabase.layer)
)

const newest = { sort: "-created_at" } as const

const makeWebhook = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_') returning id`
  return { accountId, id: WebhookId.make(Number(row?.["id"])) }
})

/** So many ended deliveries of a webhook, spread over the 30 days until now; one of ten thousand has failed. */
const writeHistory = Effect.fnUntraced(function*(webhookId: WebhookId, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into webhook_deliveries
      (webhook_id, id, event_id, event, status, attempt_count, response_code, created_at, completed_at)
    select ${webhookId}, nextval('webhook_delivery_ids'), 'evt_' || ulid_time(at) || lpad(i::text, 16, '0'), 'email.sent',
      case i % 10000 when 1 then 'failed' else 'delivered' end, 1, case i % 10000 when 1 then 503 else 200 end, at, at
    from (select i, now() - (1 - i::float8 / ${count}::integer) * interval '30 days' as at
      from generate_series(1, ${count}::integer) as numbers (i)) as dated`
})

const page = { limit: 25, offset: 0, after: null }

layer(Subject, { excludeTestServices: true })("Deliveries", (it) => {
  it.effect("lists a delivery with an expired payload and shows its attempts and a null payload", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      const webhook = yield* makeWebhook
      const kept = `evt_${yield* ulid}`
      yield* sql`insert into events (id, account_id, name, body)
        values (${kept}, ${webhook.accountId}, 'email.sent', ${Buffer.from("{\"kept\":true}")})`
      yield* sql`insert into webhook_deliveries
          (webhook_id, id, event_id, event, status, attempt_count, started_at, duration_ms, response_code, created_at)
        values (${webhook.id}, 1, ${`evt_${yield* ulid}`}, 'email.sent', 'delivered', 1, now(), 5, 200, now()),
          (${webhook.id}, 2, ${kept}, 'email.sent', 'delivered', 1, now(), 5, 200, now())`
      yield* sql`insert into webhook_queue (webhook_id, id, event_id, event, status)
        values (${webhook.id}, 3, ${`evt_${yield* ulid}`}, 'email.sent', 'pending')`
      const { rows, total } = yield* deliveries.list(webhook, newest, page)
      assert.deepStrictEqual([total, ...rows.map(({ id }) => id)], [3, 3, 2, 1])
      const shown = yield* Effect.forEach(rows, ({ id }) => deliveries.find(webhook, DeliveryId.make(id)))
      assert.deepStrictEqual(shown.map(({ payload }) => payload), [null, { kept: true }, null])
      assert.deepStrictEqual(shown.map(({ attempts }) => attempts.map(({ response_code }) => response_code)), [
        [],
        [200],
        [200]
      ])
    }))

  it.effect("reads a page from the indexes of 45 daily partitions without scanning further rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      // The oldest day has only some hundred rows late in a day. PostgreSQL then scans its few pages.
      const fewRows = 400
      yield* recreatePartitions(-31, 14)
      const webhook = yield* makeWebhook
      const other = yield* makeWebhook
      yield* writeHistory(webhook.id, 100_000)
      yield* writeHistory(other.id, 1000)
      yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
        select ${other.id}, 'evt_', 'email.sent', 'pending' from generate_series(1, 10000)`
      yield* sql`analyze webhook_queue, webhook_deliveries`
      const [counted = "", first = ""] = yield* plansOf(deliveries.list(webhook, newest, page))
      assert.match(first, /Merge Append/)
      assert.isBelow(rowsRead(first), 100, first)
      assert.include(counted, "Aggregate")
      const [, deep = ""] = yield* plansOf(deliveries.list(webhook, newest, { ...page, limit: 100, offset: 5000 }))
      assert.isBelow(rowsRead(deep), 5300, deep)
      const [behind = ""] = yield* plansOf(deliveries.list(webhook, newest, { ...page, after: [50_000] }))
      assert.isBelow(rowsRead(behind), 100, behind)
      const [, failed = ""] = yield* plansOf(deliveries.list(webhook, { ...newest, status: "failed" }, page))
      assert.isBelow(rowsRead(failed), 100, failed)
      const { rows } = yield* deliveries.list(webhook, { ...newest, status: "failed" }, page)
      assert.lengthOf(rows, 10)
      const answered = { ...newest, response_code: "503" }
      for (const plan of yield* plansOf(deliveries.list(webhook, answered, page))) {
        assert.isBelow(rowsRead(plan), fewRows, plan)
      }
      assert.deepStrictEqual((yield* deliveries.list(webhook, answered, page)).rows, rows)
      const [one = ""] = yield* plansOf(deliveries.find(webhook, rows[9]?.id ?? DeliveryId.make(1)))
      assert.isBelow(rowsRead(one), fewRows, one)
    }))

  it.effect("lists waiting and ended deliveries in one order, sorted, paged and filtered by status", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      const webhook = yield* makeWebhook
      const queued = [["pending", 0], ["taken", 0], ["retrying", 1], ["taken", 2]] as const
      for (const [status, attempts] of queued) {
        yield* writeHistory(webhook.id, 1)
        yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, attempt_count)
          values (${webhook.id}, 'evt_', 'email.sent', ${status}, ${attempts})`
      }
      const shown = Effect.fnUntraced(function*(filter: Partial<DeliveryFilter>, window: Window) {
        const { rows, total } = yield* deliveries.list(webhook, { ...newest, ...filter }, window)
        return [total ?? 0, ...rows.map(({ status }) => status)]
      })
      const all = ["retrying", "failed", "retrying", "failed", "pending", "failed", "pending", "failed"]
      assert.deepStrictEqual(yield* shown({}, page), [8, ...all])
      assert.deepStrictEqual(yield* shown({}, { ...page, limit: 3, offset: 3 }), [8, ...all.slice(3, 6)])
      assert.deepStrictEqual(yield* shown({}, { ...page, limit: 3, offset: 9 }), [8])
      const oldest = { sort: "created_at" } as const
      assert.deepStrictEqual(yield* shown(oldest, page), [8, ...all.toReversed()])
      assert.deepStrictEqual(yield* shown(oldest, { ...page, limit: 3, offset: 3 }), [
        8,
        ...all.toReversed().slice(3, 6)
      ])
      assert.deepStrictEqual(yield* shown({ status: "pending" }, page), [2, "pending", "pending"])
      assert.deepStrictEqual(yield* shown({ status: "retrying" }, { ...page, limit: 1, offset: 1 }), [2, "retrying"])
      assert.deepStrictEqual(yield* shown({ status: "failed", event: "email.sent" }, page), [
        4,
        ...Array.from({ length: 4 }, () => "failed")
      ])
      assert.deepStrictEqual(yield* shown({ event: "email.bounced" }, page), [0])
    }))

  it.effect("lists by the answer to the last attempt, or its class, also while a delivery waits for the next one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      const webhook = yield* makeWebhook
      yield* sql`insert into webhook_queue (webhook_id, id, event_id, event, status, attempt_count, attempts)
        select ${webhook.id}, id, 'evt_', 'email.sent', status, jsonb_array_length(attempts), attempts from (values
          (1, 'pending', jsonb '[]'), (2, 'retrying', jsonb '[{"response_code": 500}, {"response_code": 503}]'),
          (3, 'taken', jsonb '[{"response_code": null}]')) as t (id, status, attempts)`
      yield* sql`insert into webhook_deliveries
          (webhook_id, id, event_id, event, status, attempt_count, response_code, created_at)
        select ${webhook.id}, id, 'evt_', 'email.sent', status, 1, code, now() from (values
          (4, 'delivered', 200), (5, 'delivered', 204), (6, 'failed', 503), (7, 'failed', null), (8, 'failed', 599)
        ) as t (id, status, code)`
      const shown = Effect.fnUntraced(function*(filter: Partial<DeliveryFilter>) {
        const { rows, total } = yield* deliveries.list(webhook, { ...newest, ...filter }, page)
        return [total, ...rows.map(({ id }) => id)]
      })
      assert.deepStrictEqual(yield* shown({ response_code: "503" }), [2, 6, 2])
      assert.deepStrictEqual(yield* shown({ response_code: "5xx" }), [3, 8, 6, 2])
      assert.deepStrictEqual(yield* shown({ response_code: "2xx" }), [2, 5, 4])
      assert.deepStrictEqual(yield* shown({ response_code: "500" }), [0])
      assert.deepStrictEqual(yield* shown({ response_code: "5xx", status: "retrying" }), [1, 2])
      assert.deepStrictEqual(yield* shown({ response_code: "503", status: "delivered" }), [0])
    }))

  it.effect("lists what its account's events about one message led to, with what was sent again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      const webhook = yield* makeWebhook
      const other = yield* makeWebhook
      const failover = `msg_${yield* ulid}`
      const publish = Effect.fnUntraced(
        function*(
          about: { readonly channel?: string; readonly message?: number; readonly subject?: string },
          id: number
        ) {
          const event = `evt_${yield* ulid}`
          yield* sql`insert into events (id, account_id, name, body, channel, message_id, subject, webhook_ids, delivery_ids)
            values (${event}, ${webhook.accountId}, 'message.failed', '', ${about.channel ?? null}, ${
            about.message ?? null
          }::bigint, ${about.subject ?? null}, array[${other.id}::bigint, ${webhook.id}::bigint],
              array[${id + 100}::bigint, ${id}::bigint])`
          yield* sql`insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
            values (${webhook.id}, ${id}, ${event}, 'message.failed', 'failed', 1, now())`
        }
      )
      yield* publish({ channel: "sms", message: 5 }, 1)
      yield* publish({ channel: "email", message: 5 }, 2)
      yield* publish({ subject: failover }, 3)
      yield* sql`update webhook_deliveries set requeued_as = 4 where webhook_id = ${webhook.id} and id = 1`
      yield* sql`insert into webhook_queue (webhook_id, id, event_id, event, status)
        values (${webhook.id}, 4, 'evt_', 'message.failed', 'pending')`
      const about = (message: string, accountId = webhook.accountId) =>
        Effect.map(
          deliveries.list({ ...webhook, accountId }, { ...newest, message }, page),
          ({ rows }) => rows.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* about("sms/5"), [4, 1])
      assert.deepStrictEqual(yield* about("email/5"), [2])
      assert.deepStrictEqual(yield* about(failover), [3])
      assert.deepStrictEqual(yield* about("whatsapp/5"), [])
      yield* sql`update events set account_id = ${other.accountId} where account_id = ${webhook.accountId}`
      assert.deepStrictEqual(yield* about("sms/5"), [])
    }))

  it.effect("lists the deliveries of an event that was removed, without reading the days before it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      yield* recreatePartitions(-31, 14)
      const webhook = yield* makeWebhook
      yield* writeHistory(webhook.id, 100_000)
      const [row] = yield* sql`select event_id from webhook_deliveries
        where webhook_id = ${webhook.id} and status = 'delivered' and completed_at > now() - interval '3 days' order by id limit 1`
      const event_id = EventId.make(String(row?.["event_id"]))
      yield* sql`insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
        values (${webhook.id}, nextval('webhook_delivery_ids'), ${event_id}, 'email.sent', 'failed', 4, now())`
      yield* sql`analyze webhook_deliveries`
      const listed = deliveries.list(webhook, { ...newest, event_id }, page)
      const { rows, total } = yield* listed
      assert.deepStrictEqual([total, ...rows.map(({ status }) => status)], [2, "failed", "delivered"])
      const failed = yield* deliveries.list(webhook, { ...newest, event_id, status: "failed" }, page)
      assert.strictEqual(failed.total, 1)
      for (const plan of yield* plansOf(listed)) assert.isBelow(rowsRead(plan), 15_000, plan)
      // While the event exists, it names its deliveries.
      yield* sql`insert into events (id, account_id, name, body, webhook_ids, delivery_ids)
        values (${event_id}, ${webhook.accountId}, 'email.sent', '', array[${webhook.id}::bigint], array[${
        rows[0]?.id ?? 0
      }::bigint])`
      assert.strictEqual((yield* listed).total, 1)
      for (const plan of yield* plansOf(listed)) assert.isBelow(rowsRead(plan), 400, plan)
    }))

  it.effect("lists deliveries created from from_date until before to_date", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* Deliveries
      const webhook = yield* makeWebhook
      const days = ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"]
      for (const [index, day] of days.entries()) {
        yield* sql`insert into webhook_deliveries
            (webhook_id, id, event_id, event, status, attempt_count, created_at, completed_at)
          values (${webhook.id}, ${index + 1}, 'evt_', 'email.sent', 'delivered', 1, ${day}::timestamptz, now())`
        yield* sql`insert into webhook_queue (webhook_id, id, event_id, event, status, created_at)
          values (${webhook.id}, ${index + 11}, 'evt_', 'email.sent', 'pending', ${day}::timestamptz)`
      }
      const shown = Effect.fnUntraced(function*(filter: Partial<DeliveryFilter>) {
        const { rows, total } = yield* deliveries.list(webhook, { ...newest, ...filter }, page)
        return [total, ...rows.map(({ id }) => id)]
      })
      const [, second = "", third = ""] = days
      assert.deepStrictEqual(yield* shown({ from_date: second }), [4, 13, 12, 3, 2])
      assert.deepStrictEqual(yield* shown({ to_date: second }), [2, 11, 1])
      assert.deepStrictEqual(yield* shown({ from_date: second, to_date: third, status: "pending" }), [1, 12])
    }))
})
