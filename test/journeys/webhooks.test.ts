import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { assertPause, create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

layer(Relay.layer(), { excludeTestServices: true })("webhooks", (it) => {
  it.effect("only the owner can list, read, change and remove a webhook, and its secret is shown once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const other = yield* makeAccount()
      const { answer, id, secret } = yield* create(node, key, {
        url: "https://Example.com/hook?a=1",
        events: ["message.*", "email.sent", "message.*", "sms.delivered"]
      })
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepInclude(answer.at("data"), {
        url: "https://example.com/hook?a=1",
        events: ["message.*", "email.sent", "sms.delivered"],
        is_active: true,
        status: "active",
        failure_count: 0
      })
      const shown = secret.slice(0, 12)
      const one = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
      const list = yield* node.request("GET", "/v1/webhooks", { key })
      assert.strictEqual(one.at("data", "secret"), shown)
      assert.deepStrictEqual(list.at("data"), [one.at("data")])
      const changed = yield* node.request("PUT", `/v1/webhooks/${id}`, {
        key,
        json: { events: ["*"], is_active: false }
      })
      assert.deepInclude(changed.at("data"), { id, events: ["*"], is_active: false, status: "disabled", secret: shown })
      for (const [method, json] of [["GET", undefined], ["PUT", { is_active: true }], ["DELETE", undefined]] as const) {
        const foreign = yield* node.request(method, `/v1/webhooks/${id}`, { key: other.key, json })
        assert.deepStrictEqual([foreign.status, foreign.at("error", "type")], [404, "not_found"], method)
      }
      assert.strictEqual((yield* deliveriesOf(node, other.key, id)).status, 404)
      const removed = yield* node.request("DELETE", `/v1/webhooks/${id}`, { key })
      assert.deepStrictEqual([removed.status, removed.at("success"), removed.at("data")], [200, true, null])
      assert.strictEqual((yield* node.request("GET", `/v1/webhooks/${id}`, { key })).status, 404)
      assert.isFalse([one.text, list.text, changed.text].some((text) => text.includes(secret)))
    }))

  it.effect("unknown events are refused with a suggestion, and patterns and aliases are accepted", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const url = "https://example.com/"
      for (
        const [events, message] of [
          [["email.bulk_complete"], /email\.bulk_completed/],
          [["*.sent"], /unknown event/],
          [["email"], /unknown event/],
          [[], /at least one/]
        ] as const
      ) {
        const { at, status } = yield* node.request("POST", "/v1/webhooks", { key, json: { url, events } })
        assert.strictEqual(status, 422)
        assert.match(String(at("error", "errors", 0, "message")), message)
      }
      for (const events of [["*"], ["email.*"], ["whatsapp.message.sent", "sms.*"], ["group.*", "verify.completed"]]) {
        const { answer } = yield* create(node, key, { url, events })
        assert.deepStrictEqual(answer.at("data", "events"), events)
      }
    }))

  it.effect("a webhook receives exactly the events that its patterns match", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const hooks = yield* Effect.forEach([["*"], ["email.*"], ["email.sent"], ["message.*"]], (events) =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver()
          return { receiver, ...yield* create(node, key, { url: receiver.url, events }) }
        }))
      const batch = yield* happen(node, key)
      const names = yield* Effect.forEach(hooks.slice(0, 3), ({ receiver, secret }, index) =>
        Effect.map(receiver.received(index === 2 ? 1 : 2), (requests) =>
          requests.map((request) =>
            signedEvent(request, secret)
          )))
      for (const events of names.slice(0, 2)) {
        assert.sameMembers(
          events.map(({ event }) =>
            event
          ),
          ["email.sent", "email.bulk_completed"]
        )
      }
      assert.deepStrictEqual(
        names[2]?.map(({ event }) =>
          event
        ),
        ["email.sent"]
      )
      assert.strictEqual(names[2]?.[0]?.data["batch_id"], batch)
      // An event has the same id and bytes at every webhook.
      const bytes = hooks.slice(0, 3).map(({ receiver }) =>
        receiver.requests.find(({ headers }) => headers["x-service-event"] === "email.sent")?.body.toString()
      )
      assert.strictEqual(new Set(bytes).size, 1)
      assert.strictEqual(hooks[3]?.receiver.requests.length, 0)
      assert.strictEqual((yield* deliveriesOf(node, key, hooks[3]?.id ?? 0)).at("meta", "total"), 0)
    }))

  it.effect("a delivery makes four attempts, at 0, 5, 35 and 155 seconds, then gives up, and all are in the history", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({
        script: [{ status: 500, body: "sorry", headers: { "retry-after": "3600" } }, 404, "reset", {
          status: 302,
          headers: { location: "http://localhost/" }
        }]
      })
      const { id, secret } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
      yield* happen(node, key)
      const [first, second] = yield* receiver.received(2, longer.turn)
      const gap = (second?.arrivedAtMillis ?? 0) - (first?.arrivedAtMillis ?? 0)
      assert.isAtLeast(gap, 5_000)
      const listed = () => deliveriesOf(node, key, id)
      for (const [attempts, seconds] of [[2, 30], [3, 120]] as const) {
        const { at } = yield* asking(listed(), ({ at }) => at("data", 0, "attempt_count") === attempts)
        assert.strictEqual(at("data", 0, "status"), "retrying")
        yield* assertPause(id, seconds)
        yield* hasten(id)
        yield* receiver.received(attempts + 1)
      }
      const done = yield* asking(listed(), ({ at }) => at("data", 0, "status") === "failed")
      assert.deepInclude(done.at("data", 0), {
        webhook_id: id,
        event: "email.bulk_completed",
        attempt_count: 4,
        next_attempt_at: null,
        response_code: 302,
        error: "redirect",
        is_test: false
      })
      const delivery = Number(done.at("data", 0, "id"))
      const { at } = yield* node.request("GET", `/v1/webhooks/${id}/deliveries/${delivery}`, { key })
      const attempts = at("data", "attempts") as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(attempts.map(({ attempt, error, response_code }) => [attempt, response_code, error]), [
        [1, 500, "http_status"],
        [2, 404, "http_status"],
        [3, null, "connection_reset"],
        [4, 302, "redirect"]
      ])
      assert.deepInclude(attempts[0], { response_body: "sorry", retry_after: "3600" })
      assert.strictEqual(receiver.requests.length, 4)
      const events = receiver.requests.map((request) => signedEvent(request, secret))
      assert.strictEqual(new Set(events.map((event) => event.id)).size, 1)
      assert.deepStrictEqual(at("data", "payload"), events[0])
      assert.deepStrictEqual(receiver.requests.map(({ headers }) => headers["x-service-attempt"]), ["1", "2", "3", "4"])
      assert.deepStrictEqual(
        receiver.requests.map(({ headers }) => headers["x-service-delivery-id"]),
        Array.from({ length: 4 }, () => String(delivery))
      )
      const webhook = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
      assert.strictEqual(webhook.at("data", "failure_count"), 1)
      const filtered = yield* deliveriesOf(node, key, id, "?status=failed&event=email.bulk_completed")
      assert.strictEqual(filtered.at("meta", "total"), 1)
      assert.strictEqual((yield* deliveriesOf(node, key, id, "?status=delivered")).at("meta", "total"), 0)
    }))

  it.effect("a disabled webhook gets no deliveries, and after it is enabled again one success clears its failures", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
      const change = (json: unknown) => node.request("PUT", `/v1/webhooks/${id}`, { key, json })
      yield* change({ is_active: false })
      yield* happen(node, key)
      assert.strictEqual((yield* deliveriesOf(node, key, id)).at("meta", "total"), 0)
      yield* sql`update webhooks set failure_count = 3 where id = ${id}`
      yield* change({ events: ["email.*"] })
      assert.strictEqual((yield* node.request("GET", `/v1/webhooks/${id}`, { key })).at("data", "failure_count"), 3)
      yield* change({ is_active: true })
      assert.strictEqual((yield* node.request("GET", `/v1/webhooks/${id}`, { key })).at("data", "failure_count"), 0)
      yield* sql`update webhooks set failure_count = 3 where id = ${id}`
      yield* happen(node, key)
      yield* receiver.received(2)
      const { at } = yield* asking(
        node.request("GET", `/v1/webhooks/${id}`, { key }),
        ({ at }) => at("data", "failure_count") === 0
      )
      assert.strictEqual(at("data", "status"), "active")
    }))

  it.effect("a webhook created as disabled receives events once it is enabled", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const json = { url: receiver.url, events: ["*"], is_active: false }
      const made = yield* node.request("POST", "/v1/webhooks", { key, json })
      assert.deepInclude(made.at("data"), { is_active: false, status: "disabled" })
      const id = Number(made.at("data", "id"))
      yield* happen(node, key)
      assert.strictEqual((yield* deliveriesOf(node, key, id)).at("meta", "total"), 0)
      yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: true } })
      yield* happen(node, key)
      yield* receiver.received(2)
    }))

  it.effect("disabling a webhook keeps its queued deliveries, which go out once it is enabled again", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: () => ({ status: 200, afterMillis: 600 }) })
      const { id } = yield* create(node, key, { url: receiver.url, events: ["email.sent"] })
      const recipients = Array.from({ length: 30 }, (_, index) => `fine${index}@people.example`)
      yield* ended(node, key, yield* sendBulk(node, key, { subject: "s", html: "h", recipients }))
      yield* receiver.received(4)
      const change = (is_active: boolean) => node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active } })
      yield* change(false)
      yield* asking(deliveriesOf(node, key, id, "?status=delivered"), ({ at }) => Number(at("meta", "total")) >= 4)
      yield* change(true)
      const { at } = yield* asking(
        deliveriesOf(node, key, id, "?status=delivered"),
        ({ at }) => Number(at("meta", "total")) === 30
      )
      assert.strictEqual(at("meta", "total"), 30)
      const ids = new Set(receiver.requests.map(({ headers }) => headers["x-service-event-id"]))
      assert.deepStrictEqual([ids.size, receiver.requests.length], [30, 30])
    }))
})

const production = { WEBHOOK_ALLOW_LOOPBACK: "false" }

layer(Relay.layer({ env: production }), { excludeTestServices: true })(
  "webhooks in production",
  (it) => {
    it.effect("the address is checked again at each connection, and a private one is not connected to", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* makeWebhookReceiver()
        const { accountId, key } = yield* makeAccount()
        const refused = yield* node.request("POST", "/v1/webhooks", { key, json: { url: receiver.url, events: ["*"] } })
        assert.deepStrictEqual([refused.status, refused.at("error", "param")], [422, "url"])
        // As if the name had been public at creation (DNS rebinding): only the connection can tell.
        const { id } = yield* create(node, key, { url: "https://example.com/", events: ["email.bulk_completed"] })
        yield* sql`update webhooks set url = ${`http://localhost:${receiver.port}/`} where account_id = ${accountId}`
        yield* happen(node, key)
        const { at } = yield* asking(
          deliveriesOf(node, key, id),
          ({ at }) => Number(at("data", 0, "attempt_count")) >= 1
        )
        assert.deepInclude(at("data", 0), { error: "blocked_address", response_code: null, status: "retrying" })
        assert.strictEqual(receiver.connections(), 0)
      }))
  }
)
