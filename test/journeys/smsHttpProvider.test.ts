import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { freePort } from "../support/freePort.ts"
import { makeRawServer } from "../support/RawServer.ts"
import { eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import {
  callbackPath,
  callbackSecret as secret,
  freshNumber,
  httpProvider,
  sendSms,
  smsReaching
} from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

/** A node whose SMS provider is a test server. */
const start = (url: string) => Effect.flatMap(httpProvider(url), (env) => startNode({ env }))

const attentionOf = (node: RunningNode, key: string) =>
  Effect.map(
    node.request("GET", "/v1/account/attention", { key }),
    ({ at }) => (at("data") as ReadonlyArray<{ readonly code: string }>).map(({ code }) => code)
  )

layer(TestDatabase.layer, { excludeTestServices: true })(
  "SMS through an HTTP provider",
  (it) => {
    it.effect("an SMS is handed over whole, and the provider's callback decides its final status", () =>
      Effect.gen(function*() {
        const provider = yield* makeWebhookReceiver({
          script: (_, index) =>
            index === 2
              ? { status: 400, body: `{"error":"no such number"}` }
              : { status: 200, body: `{"id":"p-${index}"}` }
        })
        const node = yield* start(`${provider.url}/send`)
        const { key } = yield* makeAccount()
        const send = (content: string) => sendSms(node, key, { to: freshNumber(), content })
        const first = yield* send("a".repeat(200))
        assert.deepInclude(yield* smsReaching(node, { id: first, key, statuses: ["sent"] }), { segments: 2 })
        const second = yield* send("Hello")
        yield* smsReaching(node, { id: second, key, statuses: ["sent"] })
        const third = yield* send("Hello")
        const refused = yield* smsReaching(node, { id: third, key, statuses: ["failed"] })
        assert.deepInclude(refused, { error_code: "http_400", error_message: "no such number" })

        const [request] = yield* provider.received(1)
        const body: Readonly<Record<string, unknown>> = JSON.parse(String(request?.body))
        assert.strictEqual(request?.headers["authorization"], "App KEY")
        assert.deepInclude(body, { text: "a".repeat(200), ref: `${first}.1` })
        assert.strictEqual(body["callback"], `${node.baseUrl}${callbackPath}`)

        const delivered = yield* node.request("POST", callbackPath, { json: { id: "p-0", status: "delivered" } })
        assert.deepStrictEqual([delivered.status, delivered.text], [204, ""])
        assert.strictEqual(
          (yield* smsReaching(node, { id: first, key, statuses: ["delivered"] }))["status"],
          "delivered"
        )
        const form = { "content-type": "application/x-www-form-urlencoded" }
        yield* node.request("POST", callbackPath, { body: "id=p-1&status=failed&code=27", headers: form })
        const failed = yield* smsReaching(node, { id: second, key, statuses: ["failed"] })
        assert.deepInclude(failed, { error_code: "undeliverable", error_message: "The provider says failed, 27." })
        // A repeated, contradictory callback: a final status never changes.
        yield* node.request("POST", callbackPath, { json: { id: "p-1", status: "delivered" } })
        assert.strictEqual((yield* smsReaching(node, { id: second, key, statuses: ["failed"] }))["status"], "failed")
      }))

    it.effect("a provider that refuses connections needs attention until it takes the text that waited", () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const node = yield* start(`http://127.0.0.1:${port}/send`)
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        const codes = attentionOf(node, key)
        yield* eventually(codes, (found) => found.includes("carrier_away"), longer.turn)
        yield* makeWebhookReceiver({ port, script: () => ({ status: 200, body: `{"id":"late"}` }) })
        yield* smsReaching(node, { id, key, statuses: ["sent"] })
        yield* eventually(codes, (found) => !found.includes("carrier_away"), longer.turn)
      }))

    it.effect("a text waits, and loses no attempt, while the provider resets connections during the handshake of TLS", () =>
      Effect.gen(function*() {
        let connections = 0
        const { url } = yield* makeRawServer((socket) => {
          connections++
          socket.once("data", () => socket.resetAndDestroy())
        })
        const node = yield* start(`${url.replace("http:", "https:")}/send`)
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        yield* eventually(Effect.sync(() => connections), (count) => count > 1, longer.turn)
        yield* eventually(attentionOf(node, key), (found) => found.includes("carrier_away"), longer.turn)
        const found = yield* smsReaching(node, { id, key, statuses: ["queued", "failed"] })
        assert.deepInclude(found, { status: "queued", error_code: null })
        const sql = yield* SqlClient.SqlClient
        const parts = yield* sql`select attempt_count::int, doubts::int from sms_parts where message_id = ${id}`
        assert.deepStrictEqual(parts, [{ attempt_count: 0, doubts: 0 }])
      }))

    it.effect("a callback without the secret gets 404, and with it only a body that is too large is refused", () =>
      Effect.gen(function*() {
        const node = yield* start("http://127.0.0.1:1/send")
        for (const path of ["double/wrong", `other/${secret}`, `double/${secret}x`]) {
          const answer = yield* node.request("POST", `/v1/callbacks/sms/${path}`, {
            json: { id: "x", status: "failed" }
          })
          assertRefused(answer, 404, "not_found")
        }
        for (const body of ["", "{", "null", "[1]", "\0", "x".repeat(256 * 1_024)]) {
          assert.strictEqual((yield* node.request("POST", callbackPath, { body })).status, 204)
        }
        const large = yield* node.request("POST", callbackPath, { body: "x".repeat(256 * 1_024 + 1) })
        assertRefused(large, 413, "payload_too_large")
        assertRefused(yield* node.request("GET", callbackPath), 405, "method_not_allowed")
      }))
  }
)
