import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import { exampleOf } from "../../src/events/EventData.ts"
import { eventAliases, eventNames, resolveTopic } from "../../src/events/EventNames.ts"
import { assertRefused } from "../contract/contract.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { makeWebhookReceiver, type ReceiverAnswer } from "../support/WebhookReceiver.ts"
import { askAgain, askTest, create, deliveriesOf } from "../support/webhookStories.ts"

/** A free port on this machine. */
const unusedPort = Effect.callback<number>((resume) => {
  const server = NodeNet.createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

const outcomes: ReadonlyArray<readonly [what: string, answer: ReceiverAnswer, Readonly<Record<string, unknown>>]> = [
  ["2xx", { status: 201, body: "thanks" }, { status: "delivered", response_code: 201, error: null }],
  ["5xx", { status: 500, body: "sorry", headers: { "retry-after": "60" } }, {
    status: "failed",
    response_code: 500,
    error: "http_status"
  }],
  ["410", 410, { status: "failed", response_code: 410, error: "http_status" }],
  ["a redirect", { status: 302, headers: { location: "/" } }, {
    status: "failed",
    response_code: 302,
    error: "redirect"
  }],
  ["a broken connection", "reset", { status: "failed", response_code: null, error: "connection_reset" }],
  ["nothing", "hang", { status: "failed", response_code: null, error: "timeout" }]
]

layer(Service.layer(), { excludeTestServices: true })(
  "test event of a webhook",
  (it) => {
    for (const [what, answer, outcome] of outcomes) {
      it.effect(`a test of an endpoint that answers with ${what} returns that outcome, has one attempt and counts no failure`, () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: [answer] })
          const { id, secret } = yield* create(node, key, { url: receiver.url, events: ["message.*"] })
          const tested = yield* askTest(node, key, { id })
          assert.deepStrictEqual([tested.status, tested.at("success")], [200, true], tested.text)
          assert.deepInclude(tested.at("data"), {
            ...outcome,
            webhook_id: id,
            event: "email.sent",
            is_test: true,
            attempt_count: 1,
            next_attempt_at: null
          })
          assert.deepInclude(tested.at("data", "attempts", 0), {
            attempt: 1,
            response_code: outcome["response_code"],
            error: outcome["error"],
            retry_after: typeof answer === "object" ? answer.headers?.["retry-after"] ?? null : null,
            response_body: typeof answer === "object" ? answer.body ?? "" : typeof answer === "number" ? "" : null
          })
          const [request, ...more] = yield* receiver.received(1)
          assert.isDefined(request)
          assert.deepStrictEqual(more, [])
          const event = signedEvent(request, secret)
          assert.deepStrictEqual(Object.keys(event), ["id", "event", "mode", "timestamp", "data"])
          assert.deepStrictEqual(event, tested.at("data", "payload"))
          assert.deepInclude(request.headers, {
            "x-service-test": "true",
            "x-service-attempt": "1",
            "x-service-event-id": String(tested.at("data", "event_id")),
            "x-service-delivery-id": String(tested.at("data", "id"))
          })
          const read = yield* node.request("GET", `/v1/webhooks/${id}/deliveries/${String(tested.at("data", "id"))}`, {
            key
          })
          assert.deepStrictEqual(read.at("data"), tested.at("data"))
          const webhook = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
          assert.deepInclude(webhook.at("data"), { status: "active", failure_count: 0 })
        }))
    }

    it.effect("a test of an endpoint that is not listening reports connection_refused", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const { id } = yield* create(node, key, { url: `http://localhost:${yield* unusedPort}/`, events: ["*"] })
        const { at, status } = yield* askTest(node, key, { id })
        assert.strictEqual(status, 200)
        assert.deepInclude(at("data"), { status: "failed", error: "connection_refused", response_code: null })
      }))

    it.effect("a test can use every event and alias, and an alias sends its event's name", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const { id, secret } = yield* create(node, key, { url: receiver.url, events: ["verify.expired"] })
        const names = [...eventNames, ...eventAliases.keys()]
        for (const [index, event] of names.entries()) {
          const topic = resolveTopic(event)
          assert.isDefined(topic, event)
          const tested = yield* askTest(node, key, { id, event })
          assert.deepInclude(tested.at("data"), { status: "delivered", event: topic.event }, event)
          const request = receiver.requests[index]
          assert.isDefined(request)
          const sent = signedEvent(request, secret)
          assert.deepStrictEqual([sent.event, sent.data], [topic.event, { ...exampleOf(topic) }])
        }
        assert.strictEqual(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size, names.length)
      }))

    it.effect("an unknown event name is refused with the nearest names, and nothing is sent", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        for (
          const [json, message] of [
            [{ event: "email.bulk_complete" }, /did you mean email\.bulk_completed\?/],
            [{ event: "sms.deliverd" }, /did you mean sms\.delivered\?/],
            [{ event: "x\r\nX-Injected: 1" }, /unknown event "x\\r\\nX-Injected: 1"/],
            [{ event: "email.*" }, /unknown event "email\.\*"/],
            [{ event: "*" }, /unknown event "\*", use a name such as "message\.sent"/],
            [{ event: "something else altogether" }, /use a name such as "message\.sent"/],
            [{ event: "" }, /must not be empty/],
            [{ event: "x".repeat(101) }, /at most 100 characters/],
            [{ event: 7 }, /must be a string/],
            [{}, /is required/]
          ] as const
        ) {
          const { at, status } = yield* node.request("POST", `/v1/webhooks/${id}/test`, { key, json })
          assert.deepStrictEqual([status, at("error", "type"), at("error", "param")], [
            422,
            "validation_error",
            "event"
          ])
          assert.match(String(at("error", "errors", 0, "message")), message)
        }
        assert.strictEqual((yield* deliveriesOf(node, key, id)).at("meta", "total"), 0)
        assert.strictEqual(receiver.connections(), 0)
      }))

    it.effect("tests appear in the history and can be filtered like other deliveries", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver({ script: [200, 500] })
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        const first = yield* askTest(node, key, { id, event: "email.sent" })
        const second = yield* askTest(node, key, { id, event: "email.opened" })
        const idsOf = Effect.fnUntraced(function*(query: string) {
          const { at } = yield* deliveriesOf(node, key, id, query)
          return (at("data") as ReadonlyArray<{ readonly id: number; readonly is_test: boolean }>)
            .map((row) => [row.id, row.is_test])
        })
        const [sent, opened] = [[first.at("data", "id"), true], [second.at("data", "id"), true]]
        assert.deepStrictEqual(yield* idsOf(""), [opened, sent])
        assert.deepStrictEqual(yield* idsOf("?sort=-created_at"), [opened, sent])
        assert.deepStrictEqual(yield* idsOf("?sort=created_at"), [sent, opened])
        assert.deepStrictEqual(yield* idsOf("?sort=created_at&per_page=1&page=2"), [opened])
        assertRefused(yield* deliveriesOf(node, key, id, "?sort=id"), 422, "validation_error")
        assert.deepStrictEqual(yield* idsOf("?status=failed"), [opened])
        assert.deepStrictEqual(yield* idsOf("?status=delivered"), [sent])
        assert.deepStrictEqual(yield* idsOf("?event=email.opened"), [opened])
        assert.deepStrictEqual(yield* idsOf("?status=pending"), [])
        const misspelt = yield* deliveriesOf(node, key, id, "?event=email.opend")
        assertRefused(misspelt, 422, "validation_error")
        assert.include(misspelt.text, "did you mean email.opened")
        const [times] = yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`select bool_and(created_at <= started_at and started_at <= completed_at) as ordered
              from webhook_deliveries where webhook_id = ${id}`
        )
        assert.isTrue(times?.["ordered"])
      }))

    it.effect("a test reaches a disabled or unhealthy webhook without reactivating it, and a success clears its failures", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver({ script: [500, 200, 200] })
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        yield* sql`update webhooks set failure_count = 12, failing_since = now(), unhealthy_reason = 'failing'
          where id = ${id}`
        const health = Effect.map(
          node.request("GET", `/v1/webhooks/${id}`, { key }),
          ({ at }) => ["status", "unhealthy_reason", "failure_count"].map((name) => at("data", name))
        )
        assert.strictEqual((yield* askTest(node, key, { id })).at("data", "status"), "failed")
        assert.deepStrictEqual(yield* health, ["unhealthy", "failing", 12])
        assert.strictEqual((yield* askTest(node, key, { id })).at("data", "status"), "delivered")
        assert.deepStrictEqual(yield* health, ["unhealthy", "failing", 0])
        yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: true } })
        yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: false } })
        assert.strictEqual((yield* askTest(node, key, { id })).at("data", "status"), "delivered")
        assert.deepStrictEqual(yield* health, ["disabled", null, 0])
      }))

    it.effect("tests and reads work in a trial too, and only for the webhook's own account", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        yield* sql`update accounts set plan = 'starter', trial_ends_at = now() + interval '1 day' where id = ${accountId}`
        const tested = yield* askTest(node, key, { id })
        assert.strictEqual(tested.status, 200)
        const delivery = String(tested.at("data", "id"))
        for (const path of ["", `/${id}`, `/${id}/deliveries`, `/${id}/deliveries/${delivery}`]) {
          assert.strictEqual((yield* node.request("GET", `/v1/webhooks${path}`, { key })).status, 200, path)
        }
        assert.strictEqual((yield* askAgain(node, key, id, delivery)).status, 202)
        yield* receiver.received(2)
        const foreign = yield* askTest(node, (yield* makeAccount()).key, { id })
        assert.deepStrictEqual([foreign.status, foreign.at("error", "type")], [404, "not_found"])
        assert.strictEqual(receiver.requests.length, 2)
      }))

    it.effect("a test of a webhook that is removed meanwhile gets 404 and leaves no row", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, afterMillis: 6_000 }] })
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        const removal = Effect.andThen(receiver.received(1), node.request("DELETE", `/v1/webhooks/${id}`, { key }))
        const [tested, removed] = yield* Effect.all([askTest(node, key, { id }), removal], { concurrency: 2 })
        assert.deepStrictEqual([tested.status, removed.status], [404, 200])
        const rows = yield* sql`select id::text from events where account_id = ${accountId}
          union all select id::text from webhook_deliveries where webhook_id = ${id}`
        assert.deepStrictEqual(rows, [])
      }))
  }
)

layer(Service.layer(), { excludeTestServices: true })(
  "test event with an Idempotency-Key",
  (it) => {
    it.effect("tests whose endpoint hangs for 10 seconds are answered and can be replayed", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver({ script: ["hang"] })
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        const keyed = (name: string) => askTest(node, key, { id, headers: { "idempotency-key": name } })
        const answers = yield* Effect.forEach(["a", "b", "c", "d"], keyed, { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 200, 200])
        assert.deepInclude(answers[0]?.at("data"), { status: "failed", error: "timeout", is_test: true })
        const repeated = yield* keyed("a")
        assert.deepStrictEqual([repeated.status, repeated.headers["idempotency-replayed"]], [200, "true"])
        assert.strictEqual(repeated.text, answers[0]?.text)
        assert.strictEqual(receiver.requests.length, 4)
        assert.strictEqual((yield* deliveriesOf(node, key, id, "?status=failed")).at("meta", "total"), 4)
      }))
  }
)

layer(Service.layer({ env: { WEBHOOK_ALLOW_LOOPBACK: "false" } }), { excludeTestServices: true })(
  "test event in production",
  (it) => {
    it.effect("a test connects to no private address, even when the webhook's host resolves to one later", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* makeWebhookReceiver()
        const { key } = yield* makeAccount()
        const { id } = yield* create(node, key, { url: "https://example.com/", events: ["*"] })
        yield* sql`update webhooks set url = ${`http://localhost:${receiver.port}/`} where id = ${id}`
        const { at, status } = yield* askTest(node, key, { id })
        assert.strictEqual(status, 200)
        assert.deepInclude(at("data"), { status: "failed", error: "blocked_address", response_code: null })
        assert.strictEqual(receiver.connections(), 0)
      }))
  }
)
