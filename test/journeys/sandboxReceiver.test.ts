import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Answer,
  eventually,
  makeAccount,
  makeKey,
  type RunningNode,
  Service,
  startNode
} from "../support/Service.ts"
import { create, deliveriesOf, happen, hasten } from "../support/webhookStories.ts"

const path = "/v1/sandbox/receiver"

const urlOf = (answer: Answer) => String(answer.at("data", "url"))

/** A new account with its receiver. */
const receiverOf = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const url = urlOf(yield* node.request("GET", path, { key }))
  const { pathname } = new URL(url)
  return {
    url,
    pathname,
    read: node.request("GET", path, { key }),
    change: (failing: boolean) => node.request("PUT", path, { key, json: { failing } }),
    /** The status of the answer to a request. */
    status: Effect.map(node.request("POST", pathname, { json: { id: "evt_1" } }), ({ status }) => status)
  }
})

/** A webhook of a new account at its receiver. */
const webhookAt = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const receiver = yield* receiverOf(node, key)
  const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
  const list = (query = "") => deliveriesOf(node, key, id, query)
  const having = (status: string, count = 1) =>
    eventually(list(`?status=${status}`), ({ at }) => Object(at("data")).length >= count)
  return {
    accountId,
    node,
    key,
    receiver,
    list,
    having,
    happen: happen(node, key),
    get: node.request("GET", `/v1/webhooks/${id}`, { key }),
    change: (json: unknown) => node.request("PUT", `/v1/webhooks/${id}`, { key, json }),
    post: (below: string, json: unknown) => node.request("POST", `/v1/webhooks/${id}${below}`, { key, json }),
    /** The next attempt starts at once. */
    hasten: hasten(id)
  }
})

layer(Service.layer(), { excludeTestServices: true })("the receiver of the sandbox", (it) => {
  it.effect("a webhook at it is delivered, and its delivery shows the answer", () =>
    Effect.gen(function*() {
      const hook = yield* webhookAt
      assert.strictEqual((yield* hook.receiver.read).at("data", "failing_until"), null)
      yield* hook.happen
      const delivered = yield* hook.having("delivered")
      assert.deepInclude(delivered.at("data", 0), { response_code: 204, attempt_count: 1 })
    }))

  it.effect("a delivery that met its 500 is repeated, and arrives once it answers 204 again", () =>
    Effect.gen(function*() {
      const hook = yield* webhookAt
      yield* hook.receiver.change(true)
      yield* hook.happen
      const waiting = yield* hook.having("retrying")
      assert.strictEqual(waiting.at("data", 0, "response_code"), 500)
      const attempts = Number(waiting.at("data", 0, "attempt_count"))
      const changed = yield* hook.receiver.change(false)
      assert.deepStrictEqual(changed.at("data"), { url: hook.receiver.url, failing_until: null })
      yield* hook.hasten
      const delivered = yield* hook.having("delivered")
      assert.strictEqual(delivered.at("data", 0, "response_code"), 204)
      assert.isAbove(Number(delivered.at("data", 0, "attempt_count")), attempts)
      assert.deepInclude((yield* hook.get).at("data"), { status: "active", failure_count: 0 })
    }))

  it.effect(
    "a webhook at it is unhealthy after one failed delivery, and a recovery sends all that it missed",
    () =>
      Effect.gen(function*() {
        const since = DateTime.formatIso(yield* DateTime.now)
        const hook = yield* webhookAt
        yield* hook.receiver.change(true)
        yield* hook.happen
        const failed = yield* eventually(
          Effect.andThen(hook.hasten, hook.list("?status=failed")),
          ({ at }) => at("data", 0) !== undefined
        )
        assert.deepInclude(failed.at("data", 0), { response_code: 500, attempt_count: 4 })
        const turned = yield* eventually(hook.get, ({ at }) => at("data", "status") === "unhealthy")
        assert.deepInclude(turned.at("data"), { unhealthy_reason: "failing", failure_count: 1 })
        yield* hook.happen
        const skipped = yield* hook.having("skipped")
        const missed = [failed, skipped].map(({ at }) => at("data", 0, "event_id"))

        yield* hook.receiver.change(false)
        assert.strictEqual((yield* hook.change({ is_active: true })).at("data", "status"), "active")
        assert.strictEqual((yield* hook.post("/recover", { since })).status, 202)
        const delivered = yield* hook.having("delivered", 2)
        assert.sameMembers([0, 1].map((index) => delivered.at("data", index, "event_id")), missed)
      })
  )

  it.effect("it answers 500 for five minutes, then 204 without being told", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const receiver = yield* receiverOf(node, key)
      const before = DateTime.toEpochMillis(yield* DateTime.now)
      const failing = yield* receiver.change(true)
      const until = Date.parse(String(failing.at("data", "failing_until")))
      assert.closeTo(until - before, 5 * 60_000, 30_000)
      assert.strictEqual((yield* receiver.read).at("data", "failing_until"), failing.at("data", "failing_until"))
      assert.strictEqual(yield* receiver.status, 500)
      yield* sql`update sandbox_receivers set failing_until = now() - interval '1 second' where account_id = ${accountId}`
      assert.strictEqual((yield* receiver.read).at("data", "failing_until"), null)
      assert.strictEqual(yield* receiver.status, 204)
      assert.notStrictEqual((yield* receiver.change(true)).at("data", "failing_until"), null)
      assert.strictEqual(yield* receiver.status, 500)
    }))

  it.effect("each account, and each mode of it, has its own receiver with its own switch", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const test = yield* makeKey(mine.accountId, { mode: "test" })
      const receivers = [
        yield* receiverOf(node, mine.key),
        yield* receiverOf(node, theirs.key),
        yield* receiverOf(node, test.key)
      ] as const
      assert.strictEqual(new Set(receivers.map(({ url }) => url)).size, 3)
      yield* receivers[1].change(true)
      assert.deepStrictEqual(yield* Effect.all(receivers.map(({ status }) => status)), [204, 500, 204])
    }))

  it.effect("it answers 404 to an unknown secret, and 413 to a body of more than a mebibyte", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const { pathname } = yield* receiverOf(node, mine.key)
      const [, mac = ""] = pathname.split(/-(.*)/)
      for (const secret of [`${theirs.accountId}-${mac}`, `${mine.accountId}-${"A".repeat(16)}`, mac, "1", "%00"]) {
        const answer = yield* node.request("POST", `/sandbox/receiver/${secret}`, { json: {} })
        assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "not_found"], secret)
      }
      assert.strictEqual((yield* node.request("GET", pathname)).status, 405)
      const large = yield* node.request("POST", pathname, { body: "x".repeat(1024 * 1024 + 1) })
      assert.strictEqual(large.status, 413)
      const empty = yield* node.request("POST", pathname)
      assert.deepStrictEqual([empty.status, empty.text], [204, ""])
    }))

  it.effect("in production without a sandbox there is no receiver", () =>
    Effect.gen(function*() {
      const open = yield* Service
      const { key } = yield* makeAccount()
      const { pathname } = yield* receiverOf(open, key)
      const node = yield* startNode({ env: { SANDBOX_TOKEN: undefined } })
      assert.strictEqual((yield* node.request("POST", pathname, { json: {} })).status, 404)
      for (const [method, json] of [["GET", undefined], ["PUT", { failing: true }]] as const) {
        const answer = yield* node.request(method, path, { key, json })
        assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "sandbox_closed"])
      }
    }))
})
