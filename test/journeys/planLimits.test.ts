import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { makeAccount, makeKey, Service } from "../support/Service.ts"

const limited = {
  WEBHOOK_LIMIT_GROWTH: "2",
  DOMAIN_LIMIT_GROWTH: "2",
  TEMPLATE_LIMIT_GROWTH: "2",
  WEBHOOK_LIMIT_ENTERPRISE: "unlimited",
  RATE_LIMIT_STARTER: "20",
  RATE_LIMIT_ACCOUNT_KEYS: "2",
  ACCEPTED_GB_PER_DAY: "0.001"
}

const resources = [
  {
    resource: "webhooks",
    path: "/v1/webhooks",
    json: (i: number) => ({ url: `https://example.com/${i}`, events: ["*"] })
  },
  { resource: "email_domains", path: "/v1/email/domains", json: (i: number) => ({ domain: `d${i}.limits.example` }) },
  {
    resource: "templates",
    path: "/v1/email/templates",
    json: (i: number) => ({ name: `T${i}`, subject: "Hello", html: "<p>Hello</p>" })
  }
] as const

layer(Service.layer({ env: limited }), { excludeTestServices: true })("plan limits", (it) => {
  for (const { json, path, resource } of resources) {
    it.effect(`refuses ${resource} above the plan's limit with 402, and allows another one after a removal`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount({ plan: "growth" })
        const add = (i: number) => request("POST", path, { key, json: json(i) })
        const answers = yield* Effect.forEach([0, 1, 2, 3], add, { concurrency: 4 })
        const made = answers.filter(({ status }) => status === 201)
        assert.lengthOf(made, 2)
        for (const answer of answers.filter(({ status }) => status !== 201)) {
          assertRefused(answer, 402, "plan_limit_exceeded")
          assert.deepInclude(Object(answer.at("error")), { limit: 2, current: 2, resource })
        }
        yield* request("DELETE", `${path}/${String(made[0]?.at("data", "id"))}`, { key })
        assert.strictEqual((yield* add(4)).status, 201)
      }))
  }

  it.effect("answers 429 when an account adds more sending domains at once than keys can be made", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const other = yield* makeAccount()
      const add = (i: number) =>
        request("POST", "/v1/email/domains", { key, json: { domain: `busy${i}.limits.example` } })
      const [answers, calm] = yield* Effect.all([
        Effect.forEach(Array.from({ length: 40 }, (_, i) => i), add, { concurrency: 40 }),
        request("POST", "/v1/email/domains", { key: other.key, json: { domain: "calm.limits.example" } })
      ], { concurrency: 2 })
      assert.strictEqual(calm.status, 201)
      assert.isNotEmpty(answers.filter(({ status }) => status === 201))
      const refused = answers.filter(({ status }) => status !== 201)
      assert.isNotEmpty(refused)
      for (const answer of refused) {
        assertRefused(answer, 429, "key_maker_busy")
        assert.strictEqual(answer.headers["retry-after"], "2")
      }
    }))

  it.effect("limits all keys of an account together", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      const keys = [key]
      for (let i = 0; i < 3; i++) keys.push((yield* makeKey(accountId)).key)
      const other = yield* makeAccount({ plan: "starter" })
      const ask = (i: number) => request("GET", "/v1/account", { key: keys[i % 4] ?? "" })
      const answers = yield* Effect.forEach(Array.from({ length: 120 }, (_, i) => i), ask, { concurrency: 20 })
      const minutes = Object.values(Object.groupBy(answers, ({ headers }) => headers["x-ratelimit-reset"] ?? ""))
      for (const minute of minutes) {
        const passed = minute?.filter(({ status }) => status === 200) ?? []
        assert.isAtMost(passed.length, 40)
      }
      const refused = answers.filter(({ status }) => status === 429)
      assert.isNotEmpty(refused)
      assert.isTrue(refused.some(({ at }) => at("error", "limit") === 40))
      assert.strictEqual((yield* request("GET", "/v1/account", { key: other.key })).status, 200)
    }))

  it.effect("refuses large requests of an account above the day's bytes, and small ones never", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const send = (size: number, letter = "x") =>
        request("POST", "/v1/email/send", {
          key,
          json: { to: "a@people.example", subject: "Hello", text: letter.repeat(size) }
        })
      assert.strictEqual((yield* send(600_000)).status, 202)
      const refused = yield* send(600_000)
      assertRefused(refused, 429, "daily_volume_exceeded")
      assert.strictEqual(refused.at("error", "limit_bytes"), 1_000_000)
      assert.strictEqual(refused.headers["retry-after"], String(refused.at("error", "retry_after")))
      // Three bytes each in UTF-8.
      assert.strictEqual((yield* send(200_000, "字")).status, 429)
      assert.deepStrictEqual([(yield* send(300_000)).status, (yield* send(10)).status], [202, 202])
    }))

  it.effect("lists webhooks in pages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const ids: Array<unknown> = []
      for (let i = 0; i < 3; i++) {
        const made = yield* request("POST", "/v1/webhooks", {
          key,
          json: { url: `https://example.com/${i}`, events: ["*"] }
        })
        ids.unshift(made.at("data", "id"))
      }
      const page = yield* request("GET", "/v1/webhooks?page=2&per_page=2", { key })
      assert.deepStrictEqual(page.at("meta"), { total: 3, page: 2, per_page: 2, next_cursor: null })
      assert.strictEqual(page.at("data", 0, "id"), ids[2])
      assert.strictEqual(page.at("data", "length"), 1)
    }))
})
