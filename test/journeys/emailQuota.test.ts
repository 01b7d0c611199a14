import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"

const letter = { subject: "Hello", html: "<p>Hello</p>" }

const quotaOf = { env: { EMAIL_QUOTA_STARTER: "5" } }

layer(Relay.layer(quotaOf), { excludeTestServices: true })("monthly email quota", (it) => {
  it.effect("single and bulk email share the quota, and a request that exceeds it is refused whole", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      const send = (path: string, json: object) => node.request("POST", `/v1/email/${path}`, { key, json })
      const to = ["one@people.example", "two@people.example"]
      assert.strictEqual((yield* send("send", { ...letter, to, cc: "three@people.example" })).status, 202)

      const recipients = ["a@people.example", "b@people.example", "c@people.example"]
      const refused = yield* send("send-bulk", { ...letter, recipients })
      assert.strictEqual(refused.status, 402, refused.text)
      const error = { type: "email_quota_exceeded", code: 4020, limit: 5, current: 3, resource: "emails" }
      assert.deepInclude(refused.at("error"), error)
      assert.deepStrictEqual(yield* sql`select id from email_batches where account_id = ${accountId}`, [])

      assert.strictEqual((yield* send("send-bulk", { ...letter, recipients: recipients.slice(1) })).status, 202)
      assert.deepInclude((yield* send("send", { ...letter, to: "six@people.example" })).at("error"), {
        ...error,
        current: 5
      })
    }))

  it.effect("suppressed recipients do not count towards the quota", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount({ plan: "starter" })
      const email = "gone@people.example"
      yield* node.request("POST", "/v1/email/suppressions", { key, json: { email } })
      const recipients = [email, ...Array.from({ length: 5 }, (_, index) => `user${index}@people.example`)]
      const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json: { ...letter, recipients } })
      assert.strictEqual(answer.status, 202, answer.text)
    }))

  it.effect("concurrent requests cannot exceed the quota", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount({ plan: "starter" })
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) =>
          node.request("POST", "/v1/email/send", { key, json: { ...letter, to: `racer${index}@people.example` } })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(
        answers.filter(({ status }) =>
          status === 202
        ).length,
        5
      )
      assert.strictEqual(answers.filter(({ status }) => status === 402).length, 15)
    }))
})
