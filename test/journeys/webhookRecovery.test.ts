import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import { asking } from "../support/bulkMail.ts"
import { missedEvents } from "../support/missedEvents.ts"
import { Relay } from "../support/Relay.ts"
import { type Answer, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { askAgain, create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

const events = ["email.bulk_completed"]
const since = "2020-01-01T00:00:00Z"
const refusal = ({ at, status }: Answer) => [status, at("error", "type"), at("error", "code")]

const recover = (node: RunningNode, key: string, id: number, json: unknown = { since }) =>
  node.request("POST", `/v1/webhooks/${id}/recover`, { key, json })

/** A recovery, once it has ended. Its retries start at once. */
const endedRecovery = (node: RunningNode, key: string, id: number, recovery: unknown) =>
  asking(
    Effect.andThen(hasten(id), node.request("GET", `/v1/webhooks/${id}/recoveries/${String(recovery)}`, { key })),
    ({ at, status }) => status === 200 && at("data", "status") !== "running"
  )

/** A webhook whose receiver has missed this many events. */
const outage = Effect.fnUntraced(function*(count: number, script?: Parameters<typeof makeWebhookReceiver>[0]) {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver(script)
  const { id, secret } = yield* create(node, key, { url: receiver.url, events })
  const missed = yield* missedEvents({ accountId, webhookId: id, count })
  return { node, key, accountId, receiver, id, secret, missed }
})

layer(Relay.layer(), { excludeTestServices: true })("recovery of a webhook", (it) => {
  it.effect("sends what failed and what was skipped again, in the order of events, with the same ids and bytes", () =>
    Effect.gen(function*() {
      const { id, key, missed, node, receiver, secret } = yield* outage(1_200)
      const started = yield* recover(node, key, id)
      assert.strictEqual(started.status, 202, started.text)
      const recovery = Number(started.at("data", "id"))
      assert.strictEqual(started.headers["location"], `/v1/webhooks/${id}/recoveries/${recovery}`)
      assert.deepInclude(started.at("data"), {
        webhook_id: id,
        status: "running",
        statuses: ["failed", "skipped"],
        total: 1_200,
        is_total_exact: true,
        queued: 0,
        delivered: 0,
        failed: 0,
        completed_at: null
      })
      const done = yield* endedRecovery(node, key, id, recovery)
      assert.deepInclude(done.at("data"), {
        status: "completed",
        total: 1_200,
        queued: 1_200,
        delivered: 1_200,
        failed: 0
      })
      const requests = yield* receiver.received(1_200, longer.load)
      const sent = requests.map((request) => signedEvent(request, secret).id)
      assert.deepStrictEqual(sent.toSorted(), missed)
      // Eight are in flight at once, so an event overtakes few others.
      sent.forEach((event, place) => assert.isBelow(Math.abs(missed.indexOf(event) - place), 50))
      const deliveries = yield* deliveriesOf(node, key, id, "?status=delivered")
      assert.strictEqual(deliveries.at("meta", "total"), 1_200)
      const listed = yield* node.request("GET", `/v1/webhooks/${id}/recoveries`, { key })
      assert.deepStrictEqual(listed.at("data"), [done.at("data")])
      // A second one finds nothing: these events were delivered.
      const again = yield* recover(node, key, id)
      assert.strictEqual(again.at("data", "total"), 0)
      assert.deepInclude((yield* endedRecovery(node, key, id, again.at("data", "id"))).at("data"), {
        status: "completed",
        total: 0,
        queued: 0
      })
      assert.strictEqual(receiver.requests.length, 1_200)
    }))

  it.effect("sends only events of the given time and status", () =>
    Effect.gen(function*() {
      const { id, key, missed, node, receiver, secret } = yield* outage(40)
      const sql = yield* SqlClient.SqlClient
      // The events of missedEvents are a second apart, and every second one was skipped.
      const [times] = yield* sql`select min(created_at)::text as first from webhook_deliveries where webhook_id = ${id}`
      const at = (second: number) => new Date(Date.parse(String(times?.["first"])) + second * 1_000).toISOString()
      const span = { since: at(10), until: at(20), status: ["skipped"] }
      const preview = yield* node.request(
        "GET",
        `/v1/webhooks/${id}/recover?since=${span.since}&until=${span.until}&status=skipped`,
        { key }
      )
      assert.deepStrictEqual(preview.at("data"), {
        total: 5,
        is_total_exact: true,
        order: "event",
        per_second: null,
        estimated_end_at: null
      })
      const started = yield* recover(node, key, id, span)
      assert.strictEqual(started.at("data", "total"), 5, started.text)
      yield* endedRecovery(node, key, id, started.at("data", "id"))
      const sent = (yield* receiver.received(5)).map((request) => signedEvent(request, secret).id)
      assert.deepStrictEqual(sent.toSorted(), missed.slice(10, 20).filter((_, index) => index % 2 === 1))
      const rest = yield* node.request("GET", `/v1/webhooks/${id}/recover?since=${since}`, { key })
      assert.strictEqual(rest.at("data", "total"), 35)
      assert.isAbove(Number(rest.at("data", "per_second")), 0)
      assert.match(String(rest.at("data", "estimated_end_at")), /^\d{4}-.*Z$/)
    }))

  it.effect("sends only deliveries of the given event and answer, and none of another account", () =>
    Effect.gen(function*() {
      const other = yield* outage(40)
      const { id, key, missed, node, receiver, secret } = yield* outage(40)
      const sql = yield* SqlClient.SqlClient
      const [some, others] = [missed.slice(0, 10), missed.slice(10, 20)]
      yield* sql`update webhook_deliveries set response_code = 503
        where webhook_id = any(${column.int8([id, other.id])})`
      yield* sql`update webhook_deliveries set response_code = 404 where event_id = any(${column.text(some)})`
      yield* sql`update webhook_deliveries set event = 'message.delivered' where event_id = any(${column.text(others)})`
      const left = (of: Pick<typeof other, "id" | "key">, filter = "") =>
        Effect.map(
          node.request("GET", `/v1/webhooks/${of.id}/recover?since=${since}${filter}`, { key: of.key }),
          ({ at }) => at("data", "total")
        )
      assert.strictEqual(yield* left({ id, key }, "&event=email.bulk_completed&response_code=503"), 20)
      assert.strictEqual(yield* left({ id, key }, "&event=sms.delivered"), 10)
      const filter = { event: "email.bulk_completed", response_code: "5xx" }
      const started = yield* recover(node, key, id, { since, ...filter })
      assert.deepInclude(started.at("data"), { total: 20, ...filter }, started.text)
      const done = yield* endedRecovery(node, key, id, started.at("data", "id"))
      assert.deepInclude(done.at("data"), { status: "completed", total: 20, queued: 20, delivered: 20, ...filter })
      const sent = (yield* receiver.received(20)).map((request) => signedEvent(request, secret).id)
      assert.deepStrictEqual(sent.toSorted(), missed.slice(20))
      assert.deepStrictEqual([yield* left({ id, key }), yield* left(other)], [20, 40])
      assert.strictEqual(other.receiver.requests.length, 0)
    }))

  it.effect("does not send an event again that a redelivery has delivered, and sends one once whose redelivery failed", () =>
    Effect.gen(function*() {
      const { id, key, node, receiver } = yield* outage(3, { script: [200, 410, 500, 500, 500, 200] })
      const listed = yield* deliveriesOf(node, key, id, "?sort=created_at")
      const [first, second] = [0, 1].map((row) => listed.at("data", row, "id"))
      yield* askAgain(node, key, id, first)
      yield* receiver.received(1)
      yield* askAgain(node, key, id, second)
      yield* asking(
        Effect.andThen(hasten(id), deliveriesOf(node, key, id)),
        ({ at }) => at("data", 0, "status") === "failed"
      )
      const started = yield* recover(node, key, id)
      assert.strictEqual(started.at("data", "total"), 2)
      const done = yield* endedRecovery(node, key, id, started.at("data", "id"))
      assert.deepInclude(done.at("data"), { total: 2, queued: 2, delivered: 2 })
      assert.strictEqual(receiver.requests.length, 7)
      // The first one, its redelivery, and the recovery's. Then the first one is sent by hand once more.
      const ofEvent = deliveriesOf(node, key, id, `?event_id=${String(listed.at("data", 1, "event_id"))}`)
      const statuses = ({ at }: Answer) => [0, 1, 2, 3].map((row) => at("data", row, "status"))
      assert.deepStrictEqual(statuses(yield* ofEvent), ["delivered", "failed", "skipped", undefined])
      yield* askAgain(node, key, id, second)
      const all = yield* asking(
        ofEvent,
        ({ at }) => at("data", 0, "status") === "delivered" && at("meta", "total") === 4
      )
      assert.deepStrictEqual(statuses(all), ["delivered", "delivered", "failed", "skipped"])
    }))

  it.effect("does not send an event again whose first delivery was redelivered twice, until it was delivered", () =>
    Effect.gen(function*() {
      const { id, key, node, receiver } = yield* outage(1)
      const sql = yield* SqlClient.SqlClient
      const first = (yield* deliveriesOf(node, key, id)).at("data", 0, "id")
      const total = Effect.map(
        node.request("GET", `/v1/webhooks/${id}/recover?since=${since}`, { key }),
        ({ at }) => at("data", "total")
      )
      yield* sql`with second as (
          insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
          select webhook_id, nextval('webhook_delivery_ids'), event_id, event, 'failed', 4, now()
          from webhook_deliveries where webhook_id = ${id} returning id
        )
        update webhook_deliveries set requeued_as = (select id from second)
        where webhook_id = ${id} and id = ${Number(first)}`
      assert.strictEqual(yield* total, 1)
      yield* askAgain(node, key, id, first)
      yield* asking(deliveriesOf(node, key, id), ({ at }) => at("data", 0, "status") === "delivered")
      assert.strictEqual(yield* total, 0)
      assert.strictEqual(receiver.requests.length, 1)
    }))

  it.effect("counts events that fail again, and can be repeated for these", () =>
    Effect.gen(function*() {
      const { id, key, node, receiver } = yield* outage(2, { script: [500] })
      const started = yield* recover(node, key, id)
      const done = yield* endedRecovery(node, key, id, started.at("data", "id"))
      assert.deepInclude(done.at("data"), { status: "completed", queued: 2, delivered: 0, failed: 2 })
      receiver.answer([200])
      const again = yield* recover(node, key, id)
      assert.strictEqual(again.at("data", "total"), 2)
      assert.deepInclude((yield* endedRecovery(node, key, id, again.at("data", "id"))).at("data"), { delivered: 2 })
    }))

  it.effect("runs one recovery at a time, can be canceled once, and then another one continues", () =>
    Effect.gen(function*() {
      const { accountId, id, key, missed, node, receiver, secret } = yield* outage(3_000, {
        script: () => ({ status: 200, afterMillis: 5 })
      })
      const [one, two] = yield* Effect.all([recover(node, key, id), recover(node, key, id)], { concurrency: 2 })
      const [started, refused] = one.status === 202 ? [one, two] : [two, one]
      assert.strictEqual(started.status, 202)
      assert.deepStrictEqual(refusal(refused), [409, "recovery_in_progress", 4191])
      const recovery = Number(started.at("data", "id"))
      assert.strictEqual(refused.at("error", "recovery_id"), recovery)
      yield* receiver.received(100)
      const cancel = () => node.request("POST", `/v1/webhooks/${id}/recoveries/${recovery}/cancel`, { key })
      const canceled = yield* cancel()
      assert.deepStrictEqual([canceled.status, canceled.at("data", "status")], [200, "canceled"], canceled.text)
      const queued = Number(canceled.at("data", "queued"))
      assert.isBelow(queued, 3_000)
      const twice = yield* cancel()
      assert.deepStrictEqual([...refusal(twice), twice.at("error", "status")], [
        409,
        "recovery_ended",
        4192,
        "canceled"
      ])
      yield* asking(
        node.request("GET", `/v1/webhooks/${id}/recoveries/${recovery}`, { key }),
        ({ at }) => at("data", "delivered") === queued
      )
      assert.strictEqual(receiver.requests.length, queued)
      // A new event is sent beside the recovery.
      const rest = yield* recover(node, key, id)
      assert.strictEqual(rest.at("data", "total"), 3_000 - queued)
      yield* happen(node, key)
      yield* endedRecovery(node, key, id, rest.at("data", "id"))
      const sent = (yield* receiver.received(3_001, longer.load)).map((request) => signedEvent(request, secret).id)
      assert.strictEqual(new Set(sent).size, 3_001)
      assert.includeMembers(sent, missed)
      assert.isBelow(sent.findIndex((event) => !missed.includes(event)), 3_000)
      const sql = yield* SqlClient.SqlClient
      const audit = yield* sql`select action from audit_entries where account_id = ${accountId} order by id`
      assert.includeMembers(audit.map(({ action }) => action), [
        "webhook.recovery_started",
        "webhook.recovery_canceled"
      ])
    }))

  it.effect("waits while the webhook is disabled, and continues once it is active", () =>
    Effect.gen(function*() {
      const { id, key, node, receiver } = yield* outage(2_000, { script: () => ({ status: 200, afterMillis: 5 }) })
      const started = yield* recover(node, key, id)
      yield* receiver.received(50)
      const set = (is_active: boolean) => node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active } })
      yield* set(false)
      const refused = yield* recover(node, key, id)
      assert.deepStrictEqual(refusal(refused), [409, "webhook_not_active", 4097])
      yield* set(true)
      const done = yield* endedRecovery(node, key, id, started.at("data", "id"))
      assert.deepInclude(done.at("data"), { status: "completed", queued: 2_000, delivered: 2_000 })
      assert.strictEqual(receiver.requests.length, 2_000)
    }))

  it.effect("refuses wrong times, statuses and webhooks of others", () =>
    Effect.gen(function*() {
      const { id, key, node } = yield* outage(1)
      const wrong: ReadonlyArray<readonly [json: unknown, param: string]> = [
        [{}, "since"],
        [{ since: "yesterday" }, "since"],
        [{ since: "2026-01-01T00:00:00" }, "since"],
        [{ since: "2100-01-01T00:00:00Z" }, "since"],
        [{ since, until: since }, "until"],
        [{ since, until: "2019-01-01T00:00:00Z" }, "until"],
        [{ since, status: [] }, "status"],
        [{ since, status: ["delivered"] }, "status[0]"],
        [{ since, event: "email.snet" }, "event"],
        [{ since, event: ["email.sent"] }, "event"],
        [{ since, response_code: "600" }, "response_code"],
        [{ since, response_code: 503 }, "response_code"]
      ]
      for (const [json, param] of wrong) {
        const { at, status, text } = yield* recover(node, key, id, json)
        assert.deepStrictEqual([status, at("error", "param")], [422, param], text)
      }
      for (const [name, value] of [["event", "email.snet"], ["response_code", "5"]]) {
        const { at, status } = yield* node.request(
          "GET",
          `/v1/webhooks/${id}/recover?since=${since}&${name}=${value}`,
          { key }
        )
        assert.deepStrictEqual([status, at("error", "param")], [422, name])
      }
      const stranger = (yield* makeAccount()).key
      const started = yield* recover(node, key, id)
      const path = `/v1/webhooks/${id}/recoveries/${String(started.at("data", "id"))}`
      for (
        const answer of [
          yield* recover(node, stranger, id),
          yield* node.request("GET", path, { key: stranger }),
          yield* node.request("POST", `${path}/cancel`, { key: stranger }),
          yield* node.request("GET", `/v1/webhooks/${id}/recover?since=${since}`, { key: stranger }),
          yield* node.request("GET", `/v1/webhooks/${id}/recoveries/999999999`, { key })
        ]
      ) assert.deepStrictEqual(refusal(answer), [404, "not_found", 4040])
      yield* node.request("DELETE", `/v1/webhooks/${id}`, { key })
      assert.strictEqual((yield* node.request("GET", path, { key })).status, 404)
    }))
})
