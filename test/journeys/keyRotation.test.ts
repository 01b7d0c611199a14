import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Role } from "../../src/values/Permission.ts"
import { assertRefused } from "../contract/contract.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { eventually, makeAccount, makeKey, type RunningNode, Service, startNode } from "../support/Service.ts"

class SecondNode
  extends Context.Service<SecondNode, RunningNode>()("messaging-service/test/journeys/keyRotation.test/SecondNode")
{
  static readonly layer = Layer.effect(SecondNode, startNode())
}

const password = "correct horse battery"

interface Asked {
  readonly key: string
  readonly id: unknown
  readonly json?: object
  readonly headers?: Readonly<Record<string, string>>
}

const rotate = Effect.fnUntraced(function*({ headers = {}, id, json, key }: Asked) {
  const { request } = yield* Service
  return yield* request("POST", `/v1/api-keys/${String(id)}/rotate`, {
    key,
    headers,
    ...(json !== undefined && { json })
  })
})

const create = Effect.fnUntraced(function*(key: string, json: object = {}) {
  const { request } = yield* Service
  const { at } = yield* request("POST", "/v1/api-keys", { key, json: { name: "Shop", ...json } })
  return { id: Number(at("data", "id")), key: String(at("data", "key")) }
})

const read = Effect.fnUntraced(function*(key: string, id: unknown) {
  const { request } = yield* Service
  return Object((yield* request("GET", `/v1/api-keys/${String(id)}`, { key })).at("data"))
})

/** Seconds from now by the database's clock. */
const secondsTo = Effect.fnUntraced(function*(time: unknown) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select extract(epoch from ${String(time)}::timestamptz - now())::float8 as seconds`
  return Number(row?.["seconds"])
})

layer(SecondNode.layer.pipe(Layer.provideMerge(Service.layer())))("the rotation of a key", (it) => {
  it.effect("gives a key with the same name and rights, shown once, and the old one works for a day", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const old = yield* create(key, { scopes: ["email:write"], permissions: ["emails:read"] })
      const made = yield* rotate({ key, id: old.id })
      assert.strictEqual(made.status, 201, made.text)
      const { key: secret, previous, ...shown } = Object(made.at("data"))
      assert.match(secret, /^sk_live_[0-9A-Za-z]{38}$/)
      assert.strictEqual(made.headers["location"], `/v1/api-keys/${shown.id}`)
      assert.deepInclude(shown, {
        name: "Shop",
        mode: "live",
        scopes: ["email:write"],
        permissions: ["emails:read"],
        expires_at: null
      })
      assert.deepStrictEqual(yield* read(key, shown.id), {
        ...shown,
        last_used_at: null,
        last_used_ip: null,
        last_used_endpoint: null,
        requests: { succeeded: 0, refused: 0, failed: 0 },
        rotated_at: null,
        is_active: true
      })
      const replaced = yield* read(key, old.id)
      assert.deepInclude(replaced, { expires_at: previous.expires_at, rotated_at: shown.created_at, is_active: true })
      assert.strictEqual(previous.id, old.id)
      assert.closeTo(yield* secondsTo(previous.expires_at), 86_400, 60)
      const use = (one: string) => request("GET", "/v1/email/messages", { key: one })
      assert.deepStrictEqual([(yield* use(old.key)).status, (yield* use(secret)).status], [200, 200])
    }))

  it.effect("stores no secret, and its Idempotency-Key gives the same answer again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const old = yield* create(key)
      const asked = { key, id: old.id, json: { overlap_seconds: 60 }, headers: { "idempotency-key": "rotation-1" } }
      const [first, again] = [yield* rotate(asked), yield* rotate(asked)]
      assert.deepStrictEqual([first.status, again.text], [201, first.text])
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
      assert.lengthOf(yield* sql`select from api_keys where account_id = ${accountId}`, 3)
      const rows = yield* sql`select r::text as row from api_keys r where account_id = ${accountId}
        union all select r::text from audit_entries r where account_id = ${accountId}
        union all select r::text from notices r where account_id = ${accountId}
        union all select r::text from idempotency_records r where account_id = ${accountId}`
      const secret = String(first.at("data", "key")).slice(12)
      assert.isAbove(rows.length, 4)
      assert.notInclude(JSON.stringify(rows), secret)
      assert.notInclude(JSON.stringify(rows), Buffer.from(secret).toString("hex"))
    }))

  it.effect("without an overlap, every node refuses the old key at once", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      const { accountId, key } = yield* makeAccount()
      for (let round = 0; round < 10; round++) {
        const old = yield* makeKey(accountId)
        const use = (node: RunningNode, one: string) => node.request("GET", "/v1/api-keys", { key: one })
        assert.strictEqual((yield* use(there, old.key)).status, 200)
        const made = yield* rotate({ key, id: old.id, json: { overlap_seconds: 0 } })
        assertRefused(yield* use(there, old.key), 401, "expired_api_key")
        assertRefused(yield* use(here, old.key), 401, "expired_api_key")
        assert.strictEqual((yield* use(there, String(made.at("data", "key")))).status, 200)
      }
    }))

  it.effect("after the overlap, every node refuses the old key", () =>
    Effect.gen(function*() {
      const there = yield* SecondNode
      const { accountId, key } = yield* makeAccount()
      const old = yield* makeKey(accountId)
      const made = yield* rotate({ key, id: old.id, json: { overlap_seconds: 1 } })
      const use = there.request("GET", "/v1/api-keys", { key: old.key })
      const refused = yield* eventually(use, ({ status }) => status !== 200)
      assertRefused(refused, 401, "expired_api_key")
      assert.isAtMost(yield* secondsTo(made.at("data", "previous", "expires_at")), 0)
    }))

  it.effect("a key that ends with the calendar is replaced by one that does", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const old = yield* create(key, { expires_at: "9999-12-31T23:59:59Z" })
      yield* sql`update api_keys set created_at = created_at - interval '1 day' where id = ${old.id}`
      const made = yield* rotate({ key, id: old.id })
      assert.strictEqual(made.status, 201, made.text)
      assert.strictEqual(made.at("data", "expires_at"), "9999-12-31T23:59:59.000000Z")
      const beyond = yield* (yield* Service).request("POST", "/v1/api-keys", {
        key,
        json: { name: "Later", expires_at: "9999-12-31T23:00:00-05:00" }
      })
      assertRefused(beyond, 422, "validation_error")
    }))

  it.effect("never gives the old key a later end, and the new one as much time as the old one was made with", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const [{ end } = { end: "" }] = yield* sql<{ end: string }>`select
        to_char(now() at time zone 'UTC' + interval '30 days', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as end`
      const old = yield* create(key, { expires_at: end })
      // The key has two hours left of its 30 days.
      yield* sql`update api_keys set created_at = created_at - interval '30 days' + interval '2 hours',
        expires_at = expires_at - interval '30 days' + interval '2 hours' where id = ${old.id}`
      const { expires_at } = yield* read(key, old.id)
      const made = yield* rotate({ key, id: old.id, json: { overlap_seconds: 604_800 } })
      assert.strictEqual(made.at("data", "previous", "expires_at"), expires_at)
      assert.closeTo(yield* secondsTo(made.at("data", "expires_at")), 30 * 86_400, 60)
      const id = made.at("data", "id")
      const forever = yield* rotate({ key, id, json: { expires_at: null } })
      assert.strictEqual(forever.at("data", "expires_at"), null)
      const chosen = yield* rotate({ key, id: forever.at("data", "id"), json: { expires_at: "2999-01-01T00:00:00Z" } })
      assert.strictEqual(chosen.at("data", "expires_at"), "2999-01-01T00:00:00.000000Z")
    }))

  it.effect("happens once: of many at the same time on two nodes one makes a key, and the others get 409", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      const { accountId, key } = yield* makeAccount()
      const sql = yield* SqlClient.SqlClient
      const old = yield* create(key)
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => i),
        (i) => nodes[i % 2]?.request("POST", `/v1/api-keys/${old.id}/rotate`, { key }) ?? Effect.die("no node"),
        { concurrency: "unbounded" }
      )
      const refused = answers.filter(({ status }) => status !== 201)
      assert.lengthOf(refused, 19)
      for (const answer of refused) {
        assertRefused(answer, 409, "key_not_rotatable")
        assert.strictEqual(answer.at("error", "reason"), "rotated")
      }
      assert.lengthOf(yield* sql`select from api_keys where account_id = ${accountId}`, 3)
    }))

  it.effect("an expired key is refused with 409, and makes no other key", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const old = yield* makeKey(accountId)
      yield* sql`update api_keys set created_at = now() - interval '1 day', expires_at = now() where id = ${old.id}`
      const refused = yield* rotate({ key, id: old.id })
      assertRefused(refused, 409, "key_not_rotatable")
      assert.strictEqual(refused.at("error", "reason"), "expired")
      assert.lengthOf(yield* sql`select from api_keys where account_id = ${accountId}`, 2)
    }))

  it.effect("lets an account with all keys of its plan rotate one, and no second one until the old key has ended", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key, keyId } = yield* makeAccount({ plan: "starter" })
      const made = yield* rotate({ key, id: keyId })
      assert.strictEqual(made.status, 201, made.text)
      const next = { key: String(made.at("data", "key")), id: made.at("data", "id") }
      const refused = yield* rotate(next)
      assertRefused(refused, 402, "plan_limit_exceeded")
      assert.deepInclude(Object(refused.at("error")), { limit: 1, current: 2, resource: "api_keys" })
      const more = yield* request("POST", "/v1/api-keys", { key: next.key, json: { name: "More" } })
      assertRefused(more, 402, "plan_limit_exceeded")
      // Without an overlap, there are as many keys as before. The refused rotation has changed nothing.
      const last = yield* rotate({ ...next, json: { overlap_seconds: 0 } })
      assert.strictEqual(last.status, 201, last.text)
      assert.strictEqual((yield* request("DELETE", `/v1/api-keys/${keyId}`, { key })).status, 200)
      assert.strictEqual(
        (yield* rotate({ key: String(last.at("data", "key")), id: last.at("data", "id") })).status,
        201
      )
    }))

  it.effect("needs the rights of the key, or the current password", () =>
    Effect.gen(function*() {
      const { accountId, keyId } = yield* makeAccount({ password })
      const { key } = yield* makeKey(accountId, { permissions: ["keys:read", "keys:write"] })
      assertRefused(yield* rotate({ key, id: keyId }), 403, "insufficient_permission")
      assert.deepInclude(yield* read(key, keyId), { rotated_at: null, expires_at: null })
      const wrong = yield* rotate({ key, id: keyId, json: { current_password: "wrong horse battery" } })
      assertRefused(wrong, 422, "validation_error")
      const kept = { key, id: keyId, json: { current_password: password }, headers: { "idempotency-key": "k" } }
      assertRefused(yield* rotate(kept), 422, "validation_error")
      const made = yield* rotate({ key, id: keyId, json: { current_password: password } })
      assert.deepStrictEqual([made.status, made.at("data", "permissions")], [201, []])
      const reader = yield* makeKey(accountId, { permissions: ["keys:read"] })
      assertRefused(yield* rotate({ key: reader.key, id: keyId }), 403, "insufficient_permission")
    }))

  it.effect("by a key with an end makes no key that outlives the caller, and by an old login none without a password", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, email, key, keyId } = yield* makeAccount({ password })
      const end = "2990-01-01T00:00:00.000000Z"
      const short = yield* create(key, { expires_at: end })
      for (const json of [{}, { expires_at: "2990-01-01T00:00:01Z" }, { current_password: password }]) {
        const refused = yield* rotate({ key: short.key, id: keyId, json })
        assertRefused(refused, 403, "key_outlives_caller")
        assert.strictEqual(refused.at("error", "expires_at"), end)
      }
      // A key with an end rotates itself within its time.
      const own = yield* rotate({ ...short, json: { expires_at: end } })
      assert.deepStrictEqual([own.status, own.at("data", "expires_at")], [201, end], own.text)
      const login = yield* request("POST", "/v1/auth/login", { json: { email, password } })
      yield* sql`update login_sessions set created_at = created_at - interval '16 minutes'
        where account_id = ${accountId}`
      const byLogin = { key: String(login.at("data", "token")), id: keyId }
      assertRefused(yield* rotate(byLogin), 403, "fresh_login_required")
      assert.deepInclude(yield* read(key, keyId), { rotated_at: null, expires_at: null })
      assert.strictEqual((yield* rotate({ ...byLogin, json: { current_password: password } })).status, 201)
    }))

  it.effect("refuses unusual overlaps and ends with 422, and another account's, a live or an unknown key with 404", () =>
    Effect.gen(function*() {
      const { accountId, key, keyId } = yield* makeAccount()
      const wrong = [
        [{ overlap_seconds: -1 }, "overlap_seconds"],
        [{ overlap_seconds: 604_801 }, "overlap_seconds"],
        [{ overlap_seconds: 0.5 }, "overlap_seconds"],
        [{ overlap_seconds: "60" }, "overlap_seconds"],
        [{ expires_at: "tomorrow" }, "expires_at"],
        [{ expires_at: "2020-01-31T09:00:00Z" }, "expires_at"]
      ] as const
      for (const [json, param] of wrong) {
        const refused = yield* rotate({ key, id: keyId, json })
        assertRefused(refused, 422, "validation_error")
        assert.strictEqual(refused.at("error", "param"), param)
      }
      const foreign = yield* makeAccount()
      for (const id of [foreign.keyId, 9_007_199_254_740_991, "x"]) {
        assertRefused(yield* rotate({ key, id }), 404, "not_found")
      }
      const test = yield* create(key, { mode: "test" })
      assertRefused(yield* rotate({ key: test.key, id: keyId }), 404, "not_found")
      assert.deepInclude(yield* read(key, keyId), { rotated_at: null, expires_at: null })
      assert.deepInclude(yield* read(foreign.key, foreign.keyId), { rotated_at: null, expires_at: null })
      const rotated = yield* rotate({ key, id: test.id })
      assert.match(String(rotated.at("data", "key")), /^sk_test_/)
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select account_id::int as account from api_keys where id = ${
        Number(rotated.at("data", "id"))
      }`
      assert.deepStrictEqual(rows, [{ account: -accountId }])
    }))

  it.effect("is in the audit log, tells the owner, and asks for no attention to the key that ends", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key, keyId } = yield* makeAccount()
      const old = yield* create(key)
      const made = yield* rotate({ key, id: old.id })
      const successor = made.at("data", "id")
      const ends_at = made.at("data", "previous", "expires_at")
      const entries = yield* sql`select actor, target, data from audit_entries
        where account_id = ${accountId} and action = 'key.rotated'`
      assert.deepStrictEqual(entries, [
        { actor: `key ${keyId}`, target: `key ${old.id}`, data: { name: "Shop", successor, ends_at } }
      ])
      const mails = yield* sql`select subject, body from notices
        where account_id = ${accountId} and subject like '%rotated%'`
      assert.strictEqual(mails[0]?.["subject"], "An API key was rotated: Shop")
      assert.include(String(mails[0]?.["body"]), `refused from ${String(ends_at)} on`)
      const attention = request("GET", "/v1/account/attention", { key })
      assert.notInclude((yield* attention).text, "key_expiring")
      yield* sql`update api_keys set expires_at = now() + interval '6 days' where id = ${Number(successor)}`
      assert.include((yield* attention).text, "key_expiring")
    }))

  it.effect("is one click from a key that ends soon, and its revocation from an unused one, for people who may change keys", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const [ending, unused] = [yield* create(key), yield* create(key)]
      yield* sql`update api_keys set expires_at = now() + interval '6 days' where id = ${ending.id}`
      yield* sql`update api_keys set created_at = now() - interval '91 days' where id = ${unused.id}`
      const buttons = Effect.fnUntraced(function*(role: Role) {
        const { cookie } = yield* signedInAs(accountId, role)
        const { text } = yield* request("GET", `/console/${accountId}/`, { headers: { cookie } })
        const [list = ""] = /<ul class="attention"[^>]*>.*?<\/ul>/s.exec(text) ?? []
        return [...list.matchAll(/href="([^"]*\/keys[^"]*)"/g)].map(([, href]) => href)
      })
      const keys = `/console/${accountId}/keys`
      assert.sameMembers(yield* buttons("developer"), [`${keys}/${ending.id}/rotate`, `${keys}/${unused.id}/revoke`])
      assert.deepStrictEqual(yield* buttons("support"), [keys, keys])
    }))
})
