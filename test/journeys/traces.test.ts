import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("traces", (it) => {
  it.effect("spans of requests and SQL statements go to the operator's OTLP collector without secrets", () =>
    Effect.gen(function*() {
      const collector = yield* makeWebhookReceiver()
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }
      const node = yield* startNode({ env })
      const { key } = yield* makeAccount()
      assert.strictEqual((yield* node.request("GET", "/v1/webhooks/1", { key })).status, 404)
      const sent = Effect.sync(() =>
        collector.requests.map(({ body }) => Buffer.from(body).toString("utf8")).join("\n")
      )
      const spans = yield* eventually(sent, (text) => text.includes("Webhooks.find"))
      assert.isTrue(collector.requests.every(({ path }) => path === "/v1/traces"))
      for (const name of ["messaging-service", "Webhooks.find", "postgres"]) assert.include(spans, name)
      assert.notInclude(spans, key)
    }))

  it.effect("a request's span names the route and never the path or the query, which may hold tokens", () =>
    Effect.gen(function*() {
      const collector = yield* makeWebhookReceiver()
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }
      const node = yield* startNode({ env })
      const { key } = yield* makeAccount()
      yield* node.request("GET", "/u/token-in-path?also=in-query")
      yield* node.request("GET", "/no-route/token-in-path")
      const json = { to: "+250788123456", channel: "whatsapp" }
      const failed = yield* node.request("POST", "/v1/verify/send?also=in-query", { key, json })
      assert.strictEqual(failed.status, 503, failed.text)
      yield* node.stop()
      const spans = collector.requests.map(({ body }) => Buffer.from(body).toString("utf8")).join("\n")
      for (const text of ["/u/:token", "\"http.response.status_code\",\"value\":{\"intValue\":503}"]) {
        assert.include(spans, text)
      }
      for (const text of ["token-in-path", "in-query", "url.full", "POST /v1/verify/send"]) {
        assert.notInclude(spans, text)
      }
    }))
})
