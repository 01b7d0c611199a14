import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"

layer(Service.layer({ env: { MEMORY_LIMIT_MB: "64" } }), { excludeTestServices: true })(
  "a node that has more memory than its limit",
  (it) => {
    it.effect("refuses messages with 503 and Retry-After, answers other requests, and says so while it is ready", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        // The memory is measured a moment after the start. Until then, this path answers 404.
        yield* eventually(
          node.request("POST", "/v1/email/batches/email_batch_1/resend", { key, json: {} }),
          ({ status }) => status === 503
        )
        const sending = [
          ["/v1/email/send", { to: "a@people.example", subject: "Hello", text: "Hello" }],
          ["/v1/email/send-bulk", { recipients: ["b@people.example"], subject: "Hello", html: "Hello" }],
          ["/v1/sms/send", { to: "+250788000001", content: "Hello" }],
          ["/v1/verify/send", { to: "+250788000001" }],
          ["/v1/messages", { to: { phone: "+250788000001" }, steps: [{ channel: "sms", content: "Hello" }] }],
          ["/v1/email/batches/email_batch_1/resend", {}],
          ["/v1/sms/batches/sms_batch_1/resend", {}],
          ["/v1/whatsapp/batches/wa_batch_1/resend", {}]
        ] as const
        for (const [path, json] of sending) {
          const refused = yield* node.request("POST", path, { key, json })
          assertRefused(refused, 503, "service_unavailable")
          assert.strictEqual(refused.headers["retry-after"], "2")
        }
        const ready = yield* node.request("GET", "/health/ready")
        assert.deepStrictEqual([ready.status, ready.at("status"), ready.at("load")], [200, "ok", "high"])
        assert.strictEqual((yield* node.request("POST", "/v1/email/batches/email_batch_1/cancel", { key })).status, 404)
        const template = { name: "Letter", subject: "Hello", html: "Hello" }
        assert.strictEqual((yield* node.request("POST", "/v1/email/templates", { key, json: template })).status, 201)
        assert.strictEqual((yield* node.request("GET", "/v1/email/messages", { key })).at("meta", "total"), 0)
      }))
  }
)
