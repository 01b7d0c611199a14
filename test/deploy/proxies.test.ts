/** nginx and Caddy with the configurations of docs/deploy, over TLS, in front of two nodes. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { read } from "../docs/documents.ts"
import { eventually, live, makeAccount, startNode } from "../support/Service.ts"
import { callbackPath, freshNumber, httpProvider, sendSms, smsReaching } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { clientAddress, hasProxy, makeProxy, proxyPrograms } from "../support/TlsProxy.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const { paths } = JSON.parse(read("docs/openapi.json")) as { readonly paths: Readonly<Record<string, unknown>> }

/** Public paths besides those of the document, and paths that must stay inside. */
const pages = [
  "/",
  "/docs",
  "/console",
  "/docs/guides",
  "/docs/guides/errors",
  "/mcp",
  "/openapi.json",
  "/llms.txt",
  "/favicon.ico",
  "/u/token",
  "/t/o/token",
  "/t/c/token",
  "/account/confirm/token",
  "/account/email/token",
  "/v1/callbacks/sms/provider/secret"
]
const inside = [
  "/sandbox/mail",
  "/sandbox/phones",
  "/sandbox",
  "/health/ready",
  "/health/live",
  "/metrics",
  "/docsx",
  "/v2/x"
]

const attachment = (bytes: number) => ({
  to: "ann@people.example",
  subject: "Files",
  text: "See the file.",
  attachments: [{ filename: "a.bin", content_type: "application/octet-stream", content: "A".repeat(bytes) }]
})

const env = { TRUSTED_PROXIES: "127.0.0.1", DRAIN_SECONDS: "2" }

for (const program of proxyPrograms) {
  layer(TestDatabase.layer, { excludeTestServices: true })(
    `${program} in front of nodes`,
    (it) => {
      const place = Effect.gen(function*() {
        const nodes = [yield* startNode({ env }), yield* startNode({ env })] as const
        const proxy = yield* makeProxy(program, nodes.map(({ port }) => port))
        return { nodes, proxy, ...(yield* makeAccount()) }
      })

      it.effect.skipIf(!hasProxy(program))(
        "passes an upload, a webhook and a long poll, and no path that stays inside",
        () =>
          Effect.gen(function*() {
            const { key, nodes, proxy } = yield* place
            const receiver = yield* makeWebhookReceiver({ script: [200] })
            const json = { url: `${receiver.url}/in`, events: ["email.sent"] }
            assert.strictEqual((yield* proxy.request("POST", "/v1/webhooks", { key, json })).status, 201)
            const upload = yield* proxy.request("POST", "/v1/email/send", { key, json: attachment(9_000_000) })
            assert.strictEqual(upload.status, 202, upload.text)
            const [event] = yield* receiver.received(1)
            assert.strictEqual(event?.headers["x-service-event"], "email.sent")
            const large = yield* proxy.request("POST", "/v1/email/send", { key, json: attachment(12_000_000) })
            assert.include([413, 0], large.status)

            const slow = yield* makeWebhookReceiver({ script: [{ status: 200, afterMillis: 8_000 }] })
            const hook = yield* proxy.request("POST", "/v1/webhooks", {
              key,
              json: { url: slow.url, events: ["sms.sent"] }
            })
            const id = Number(JSON.parse(hook.text).data.id)
            const begun = yield* live(Clock.currentTimeMillis)
            const polled = yield* proxy.request("POST", `/v1/webhooks/${id}/test`, { key, json: { event: "sms.sent" } })
            assert.strictEqual(polled.status, 200, polled.text)
            assert.isAtLeast((yield* live(Clock.currentTimeMillis)) - begun, 7_900)

            const outside = [...pages, ...Object.keys(paths).map((template) => template.replaceAll(/\{\w+\}/g, "1"))]
            yield* Effect.forEach(outside, (path) =>
              Effect.map(proxy.request("GET", path), ({ headers, status }) =>
                // A node sends an id with each answer, also with a 404.
                assert.property(headers, "x-request-id", `GET ${path} got ${status} from ${program}`)), {
              concurrency: 8
            })
            for (const path of inside) {
              const { headers, status } = yield* proxy.request("GET", path)
              assert.strictEqual(status, 404, path)
              assert.notProperty(headers, "x-request-id", path)
            }

            const forged = { headers: { "x-forwarded-for": "203.0.113.9" } }
            const refused = yield* proxy.request("GET", "/v1/webhooks", forged)
            assert.strictEqual(refused.status, 401)
            assert.strictEqual(refused.headers["strict-transport-security"], "max-age=31536000")
            const lines = yield* eventually(
              Effect.sync(() => nodes.flatMap(({ logs }) => logs).filter((line) => line.includes("request refused"))),
              ({ length }) => length > 0
            )
            for (const line of lines) assert.include(line, `"client_address":"${clientAddress}"`)
          })
      )

      it.effect.skipIf(!hasProxy(program))(
        `leads from HTTP to HTTPS with 308${
          program === "nginx" ? ", and answers 413 to a body announced as too large" : ""
        }`,
        () =>
          Effect.gen(function*() {
            const { key, proxy } = yield* place
            const plain = yield* Effect.promise(() => fetch(`${proxy.plainUrl}/docs?a=1`, { redirect: "manual" }))
            assert.deepStrictEqual([plain.status, plain.headers.get("location")], [308, "https://localhost/docs?a=1"])
            // Caddy reads a body before it counts its bytes: see the upload above.
            if (program === "caddy") return
            const announced = { "content-length": "12000000", "content-type": "application/json" }
            const large = yield* proxy.request("POST", "/v1/email/send", { key, headers: announced })
            assert.strictEqual(large.status, 413, large.text)
            assert.notProperty(large.headers, "x-request-id")
          })
      )

      it.effect.skipIf(!hasProxy(program))(
        "passes the callback of an SMS provider, which delivers the SMS",
        () =>
          Effect.gen(function*() {
            const provider = yield* makeWebhookReceiver({ script: [{ status: 200, body: `{"id":"p-1"}` }] })
            const node = yield* startNode({ env: { ...env, ...yield* httpProvider(`${provider.url}/send`) } })
            const proxy = yield* makeProxy(program, [node.port])
            const { key } = yield* makeAccount()
            const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
            yield* smsReaching(node, { id, key, statuses: ["sent"] })
            const json = { id: "p-1", status: "delivered" }
            assert.strictEqual((yield* proxy.request("POST", callbackPath, { json })).status, 204)
            yield* smsReaching(node, { id, key, statuses: ["delivered"] })
          })
      )

      it.effect.skipIf(!hasProxy(program))(
        "passes a node's 503 to its caller, and goes on sending requests to that node",
        () =>
          Effect.gen(function*() {
            const nodes = [1, 2].map(() =>
              makeWebhookReceiver({ script: ({ path }) => path === "/v1/whatsapp/sessions/1/qr" ? 503 : 200 })
            )
            const proxy = yield* makeProxy(program, (yield* Effect.all(nodes)).map(({ port }) => port))
            const get = (path: string) => Effect.map(proxy.request("GET", path), ({ status }) => status)
            for (let round = 0; round < 4; round++) {
              assert.strictEqual(yield* get("/v1/whatsapp/sessions/1/qr"), 503)
              assert.strictEqual(yield* get("/v1/webhooks"), 200)
            }
          })
      )

      // Caddy limits no requests.
      if (program === "nginx") {
        it.effect.skipIf(!hasProxy(program))(
          "answers 429 to more logins of one address than the burst, and to no other request",
          () =>
            Effect.gen(function*() {
              const { key, proxy } = yield* place
              const json = { email: "ada@example.com", password: "wrong" }
              const logins = yield* Effect.forEach(
                Array.from({ length: 60 }),
                () => proxy.request("POST", "/v1/auth/login", { json }),
                { concurrency: 30 }
              )
              const refused = logins.filter(({ headers, status }) =>
                status === 429 && headers["x-request-id"] === undefined
              )
              assert.isAtLeast(refused.length, 20)
              assert.isAtLeast(logins.length - refused.length, 20)
              assert.strictEqual((yield* proxy.request("GET", "/v1/webhooks", { key })).status, 200)
            })
        )
      }
    }
  )
}
