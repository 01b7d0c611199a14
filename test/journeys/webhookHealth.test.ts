import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, readMail } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver, type ReceiverScript } from "../support/WebhookReceiver.ts"
import { create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

/** A webhook for completed batches, in a new account, at an endpoint that answers by a script. */
const webhookAt = Effect.fnUntraced(function*(script: ReceiverScript) {
  const node = yield* Service
  const sql = yield* SqlClient.SqlClient
  const { sink } = yield* Relay
  const { accountId, email, key } = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver({ script })
  const { id } = yield* create(node, key, { url: `${receiver.url}/in?token=secret`, events: ["email.bulk_completed"] })
  const get = node.request("GET", `/v1/webhooks/${id}`, { key })
  const list = (query = "") => deliveriesOf(node, key, id, query)
  return {
    id,
    key,
    node,
    receiver,
    get,
    list,
    happen: happen(node, key),
    change: (json: unknown) => node.request("PUT", `/v1/webhooks/${id}`, { key, json }),
    /** The webhook, once it is in this state. */
    turned: (status: string, reason: string | null) =>
      asking(get, ({ at }) => at("data", "status") === status && at("data", "unhealthy_reason") === reason),
    /** The list, once it has this many rows with this status. */
    having: (count: number, status: string) =>
      asking(list(`?status=${status}`), ({ at }) => Number(at("meta", "total")) >= count),
    /** Makes retries due at once, for this delivery or all, until this many have failed permanently. */
    exhausted: (count: number, delivery: number | null = null) =>
      eventually(
        Effect.andThen(hasten(id, delivery), list("?status=failed")),
        ({ at }) => Number(at("meta", "total")) >= count,
        longer.turn
      ),
    /** The delivery with its attempts. */
    detail: (delivery: number) => node.request("GET", `/v1/webhooks/${id}/deliveries/${delivery}`, { key }),
    notices: Effect.map(sql`select from notices where account_id = ${accountId}`, ({ length }) => length),
    /** Mails to the owner, once there is one. */
    mails: Effect.gen(function*() {
      const toOwner = () => sink.messages.filter(({ to }) => to.includes(email))
      yield* sink.until(() => toOwner().length > 0)
      return yield* Effect.forEach(toOwner(), ({ raw }) => Effect.map(readMail(raw), ({ mail }) => mail))
    })
  }
})

const env = {
  WEBHOOK_UNHEALTHY_FAILURES: "2",
  WEBHOOK_UNHEALTHY_SECONDS: "0",
  WEBHOOK_PENDING_LIMIT: "100"
}

layer(Relay.layer({ env }), { excludeTestServices: true })("webhook health", (it) => {
  it.effect("a webhook turns unhealthy after exhausted deliveries and skips events until its owner reactivates it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const hook = yield* webhookAt([500])
      const spy = yield* makeWebhookReceiver()
      yield* create(hook.node, hook.key, { url: spy.url, events: ["*"] })
      yield* hook.happen
      yield* hook.exhausted(1)
      assert.deepInclude((yield* hook.get).at("data"), { status: "active", unhealthy_reason: null, failure_count: 1 })

      yield* hook.happen
      yield* hook.happen
      const waiting = yield* asking(
        hook.list("?status=retrying"),
        ({ at }) => Number(at("data", 0, "attempt_count")) > 0 && Number(at("data", 1, "attempt_count")) > 0
      )
      const [late, last] = [Number(waiting.at("data", 0, "id")), Number(waiting.at("data", 1, "id"))]
      yield* sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${hook.id} and id = ${late}`
      yield* hook.exhausted(2, last)
      const { at } = yield* hook.turned("unhealthy", "failing")
      assert.deepInclude(at("data"), { is_active: true, failure_count: 2 })
      const listed = yield* hook.node.request("GET", "/v1/webhooks", { key: hook.key })
      assert.deepStrictEqual(listed.at("data", 1), at("data"))

      yield* hook.having(1, "skipped")
      const ended = yield* hook.detail(late)
      assert.deepInclude(ended.at("data"), {
        status: "skipped",
        error: "webhook_unhealthy",
        attempt_count: 1,
        next_attempt_at: null
      })
      assert.deepInclude(ended.at("data", "attempts", 0), { attempt: 1, response_code: 500, error: "http_status" })
      assert.strictEqual(ended.at("data", "attempts", 1), undefined)

      const requests = hook.receiver.requests.length
      const batch = yield* hook.happen
      const skipped = (yield* hook.having(2, "skipped")).at("data", 0)
      assert.deepInclude(skipped, {
        event: "email.bulk_completed",
        error: "webhook_unhealthy",
        attempt_count: 0,
        response_code: null,
        next_attempt_at: null
      })
      const kept = yield* hook.detail(Number(Reflect.get(Object(skipped), "id")))
      assert.strictEqual(kept.at("data", "payload", "data", "batch_id"), batch)
      assert.deepStrictEqual(kept.at("data", "attempts"), [])

      const [mail, ...others] = yield* hook.mails
      assert.strictEqual(mail?.subject, `Webhook ${hook.id} is unhealthy: its deliveries keep failing`)
      for (
        const words of [
          `Your webhook ${hook.id} at ${hook.receiver.url}/in has been unhealthy since `,
          "Why: 2 deliveries in a row used up all attempts, and none has succeeded since ",
          "new events are recorded in the delivery history as skipped and are not sent",
          `PUT /v1/webhooks/${hook.id} {"is_active": true}`,
          `POST /v1/webhooks/${hook.id}/deliveries/{delivery_id}/redeliver`
        ]
      ) assert.include(mail?.text, words)
      assert.notInclude(`${mail?.text}${mail?.html}`, "token=secret")
      assert.deepStrictEqual(others, [])

      hook.receiver.answer([200])
      const repaired = yield* hook.change({ is_active: true })
      assert.deepInclude(repaired.at("data"), { status: "active", unhealthy_reason: null, failure_count: 0 })
      const next = yield* hook.happen
      yield* hook.having(1, "delivered")
      const [, ...later] = hook.receiver.requests.slice(requests - 1)
      assert.deepStrictEqual(later.map(({ body }) => JSON.parse(body.toString()).data.batch_id), [next])
      assert.deepStrictEqual(
        [(yield* hook.list("?status=skipped")).at("meta", "total"), (yield* hook.list()).at("meta", "total")],
        [2, 5]
      )
      yield* spy.received(11)
      const published = spy.requests.map(({ headers }) => headers["x-service-event"])
      assert.sameMembers(published, [
        "webhook.unhealthy",
        ...Array.from({ length: 5 }, () => "email.sent"),
        ...Array.from({ length: 5 }, () => "email.bulk_completed")
      ])
    }))

  it.effect("a delivery answered 410 Gone four times makes the webhook unhealthy at once, and any accepted change repairs it", () =>
    Effect.gen(function*() {
      const hook = yield* webhookAt([410])
      yield* hook.happen
      yield* hook.exhausted(1)
      const { at } = yield* hook.turned("unhealthy", "gone")
      assert.strictEqual(at("data", "failure_count"), 1)
      assert.strictEqual(hook.receiver.requests.length, 4)
      const [mail] = yield* hook.mails
      assert.include(mail?.text, "the endpoint answered every attempt of a delivery with 410 Gone")
      const refused = yield* hook.change({ url: "no url" })
      assert.strictEqual(refused.status, 422)
      assert.strictEqual((yield* hook.get).at("data", "status"), "unhealthy")
      const changed = yield* hook.change({ events: ["email.bulk_completed"] })
      assert.deepInclude(changed.at("data"), { status: "active", unhealthy_reason: null, failure_count: 0 })
      yield* hook.happen
      yield* hook.exhausted(2)
      yield* hook.turned("unhealthy", "gone")
      // A disabled webhook gets no events and no records.
      const off = yield* hook.change({ is_active: false })
      assert.deepInclude(off.at("data"), { status: "disabled", is_active: false })
      yield* hook.happen
      assert.strictEqual((yield* hook.list()).at("meta", "total"), 2)
      const still = yield* hook.change({ events: ["email.bulk_completed"] })
      assert.deepInclude(still.at("data"), { status: "disabled", is_active: false })
      const on = yield* hook.change({ is_active: true })
      assert.deepInclude(on.at("data"), { status: "active", unhealthy_reason: null, failure_count: 0 })
    }))

  it.effect("the webhook stays active when one of the four answers is not 410", () =>
    Effect.gen(function*() {
      const hook = yield* webhookAt([410, 410, 500, 410])
      yield* hook.happen
      yield* hook.exhausted(1)
      assert.deepInclude((yield* hook.get).at("data"), { status: "active", unhealthy_reason: null, failure_count: 1 })
      assert.strictEqual(yield* hook.notices, 0)
    }))

  it.effect("a full backlog skips new events, still sends the waiting ones, and ends by itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const hook = yield* webhookAt(["hang"])
      const waiting = 700
      yield* sql`with born as (
          insert into events (id, account_id, name, body)
          select 'evt_' || ulid_time(now()) || lpad(n::text, 16, '0'), w.account_id, 'email.bulk_completed', '{}'
          from webhooks w, generate_series(1, ${waiting}::integer) n where w.id = ${hook.id} returning id
        )
        insert into webhook_queue (webhook_id, event_id, event, status)
        select ${hook.id}::bigint, id, 'email.bulk_completed', 'pending' from born order by id`
      yield* hook.turned("unhealthy", "backlog_full")
      yield* hook.happen
      const { at } = yield* hook.having(1, "skipped")
      assert.deepInclude(at("data", 0), { error: "backlog_full", attempt_count: 0 })

      const [mail] = yield* hook.mails
      assert.strictEqual(mail?.subject, `Webhook ${hook.id} is unhealthy: its backlog is full`)
      assert.include(mail?.text, "100 events or more wait for an attempt")
      assert.include(mail?.text, "When fewer than 50 wait, the webhook becomes active again by itself.")

      // Reactivated with a full backlog, it turns unhealthy at the next check; the owner gets one mail a day.
      yield* hook.change({ is_active: true })
      yield* hook.turned("unhealthy", "backlog_full")
      assert.strictEqual(yield* hook.notices, 1)

      hook.receiver.answer([200])
      yield* hook.turned("active", null)
      const next = yield* hook.happen
      yield* asking(hook.list("?status=delivered"), ({ at }) => Number(at("meta", "total")) === waiting + 1)
      assert.isTrue(hook.receiver.requests.some(({ body }) => body.includes(next)))
      assert.strictEqual((yield* hook.list("?status=skipped")).at("meta", "total"), 1)
      assert.deepStrictEqual([yield* hook.notices, (yield* hook.mails).length], [1, 1])
    }))
})

const slowAlarm = { WEBHOOK_UNHEALTHY_FAILURES: "2", WEBHOOK_UNHEALTHY_SECONDS: "600" }

layer(Relay.layer({ env: slowAlarm }), { excludeTestServices: true })(
  "webhook health with WEBHOOK_UNHEALTHY_SECONDS",
  (it) => {
    it.effect("a webhook stays active within that time after a success, however many deliveries fail", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const hook = yield* webhookAt([200, 500])
        yield* hook.happen
        yield* hook.having(1, "delivered")
        yield* hook.happen
        yield* hook.happen
        yield* hook.exhausted(2)
        assert.deepInclude((yield* hook.get).at("data"), { status: "active", unhealthy_reason: null, failure_count: 2 })
        assert.strictEqual(yield* hook.notices, 0)
        yield* sql`update webhooks set failing_since = failing_since - interval '10 minutes' where id = ${hook.id}`
        yield* hook.happen
        yield* hook.exhausted(3)
        yield* hook.turned("unhealthy", "failing")
        const [mail] = yield* hook.mails
        assert.include(mail?.text, "3 deliveries in a row used up all attempts")
      }))
  }
)
