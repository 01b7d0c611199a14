import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asking } from "../support/bulkMail.ts"
import { codeFor, sendCode } from "../support/codes.ts"
import { makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"

const env = {
  MAIL_FROM: "Example <hello@service.example>",
  NOTICE_FROM: "Example accounts <accounts@service.example>"
}

/** The sender of the first mail to an address, as the sandbox's inbox shows it. */
const senderOf = (node: RunningNode, to: string) =>
  Effect.map(
    asking(
      node.request("GET", `/sandbox/mail?to=${to}`, { headers: { accept: "application/json" } }),
      ({ at }) => Number(at("meta", "total")) > 0
    ),
    ({ at }) => at("data", 0, "from")
  )

const text = { subject: "Reset your password", html: "<p>Click here</p>" }

layer(Service.layer({ env }), { excludeTestServices: true })("the shared sender", (it) => {
  it.effect("keeps the service's name in a display name that an account chooses, in single and bulk mail", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const named = { ...text, from_name: "Security Team" }
      const single = yield* node.request("POST", "/v1/email/send", { key, json: { ...named, to: "one@x.example" } })
      const recipients = [{ to: "many@x.example" }]
      const bulk = yield* node.request("POST", "/v1/email/send-bulk", { key, json: { ...named, recipients } })
      assert.deepStrictEqual([single.status, bulk.status], [202, 202])
      const sender = "Security Team via Example <hello@service.example>"
      assert.deepStrictEqual([yield* senderOf(node, "one@x.example"), yield* senderOf(node, "many@x.example")], [
        sender,
        sender
      ])
      yield* node.request("POST", "/v1/email/send", { key, json: { ...text, to: "plain@x.example" } })
      assert.strictEqual(yield* senderOf(node, "plain@x.example"), env.MAIL_FROM)
    }))

  it.effect("is not the sender of notices, which come from NOTICE_FROM", () =>
    Effect.gen(function*() {
      const node = yield* Service
      yield* makeAccount({ email: "owner@people.example", password: "correct horse battery" })
      yield* node.request("POST", "/v1/auth/password/forgot", { json: { email: "owner@people.example" } })
      assert.strictEqual(yield* senderOf(node, "owner@people.example"), env.NOTICE_FROM)
    }))

  it.effect("is refused with the field and the reason if MAIL_FROM_SHARED is false, except for codes", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: { ...env, MAIL_FROM_SHARED: "false" } })
      const { key } = yield* makeAccount()
      const requests = [
        ["/v1/email/send", { ...text, to: "closed@x.example" }],
        ["/v1/email/send-bulk", { ...text, recipients: [{ to: "closed@x.example" }] }]
      ] as const
      for (const [path, json] of requests) {
        const { at, status } = yield* node.request("POST", path, { key, json })
        assert.deepStrictEqual([status, at("error", "param"), at("error", "errors", 0, "type")], [
          422,
          "from",
          "missing"
        ])
        assert.match(String(at("error", "message")), /^from: is required, because this service has no shared sender: /)
      }
      yield* sendCode(node, { key, json: { to: "code@x.example", channel: "email" } })
      assert.match(yield* codeFor(node, "code@x.example"), /^\d{6}$/)
    }))
})
