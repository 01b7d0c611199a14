import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeyId } from "../../src/values/Ids.ts"
import { assertRefused } from "../contract/contract.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { placesOf } from "../support/placesOf.ts"
import { eventually, makeAccount, makeKey, type RunningNode, Service, startNode } from "../support/Service.ts"
import { inPatience, longer } from "../support/waiting.ts"

class SecondNode
  extends Context.Service<SecondNode, RunningNode>()("messaging-service/test/journeys/apiKeys.test/SecondNode")
{
  static readonly layer = Layer.effect(SecondNode, startNode())
}

layer(SecondNode.layer.pipe(Layer.provideMerge(Service.layer())))("API keys", (it) => {
  it.effect("a key can be created, listed, read and revoked", () =>
    Effect.gen(function*() {
      const { client, request } = yield* Service
      const first = yield* makeAccount()
      const api = yield* client(first.key)

      const { data: made } = yield* api.apiKeys.create({
        payload: { name: "Mailer", scopes: ["email:write"], permissions: ["emails:read", "emails:write"] }
      })
      assert.match(made.key, /^sk_live_[0-9A-Za-z]{38}$/)
      assert.strictEqual(made.key_prefix, made.key.slice(0, 12))
      assert.deepInclude(made, { name: "Mailer", scopes: ["email:write"], expires_at: null })

      const { data: keys } = yield* api.apiKeys.list()
      assert.deepStrictEqual(keys.map(({ id }) => id), [made.id, first.keyId])
      const { data: read } = yield* api.apiKeys.get({ params: { id: made.id } })
      assert.deepStrictEqual(read, keys[0])
      const { key: _, ...shown } = made
      assert.deepStrictEqual(read, {
        ...shown,
        last_used_at: null,
        last_used_ip: null,
        last_used_endpoint: null,
        requests: { succeeded: 0, refused: 0, failed: 0 },
        rotated_at: null,
        is_active: true
      })

      const revoked = yield* api.apiKeys.revoke({ params: { id: made.id } })
      assert.deepInclude(revoked, { success: true, data: null })
      assert.strictEqual((yield* Effect.flip(api.apiKeys.get({ params: { id: made.id } })))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(api.apiKeys.revoke({ params: { id: made.id } })))._tag, "NotFound")
      assertRefused(yield* request("GET", "/v1/api-keys", { key: made.key }), 401, "revoked_api_key")
    }))

  it.effect("create and list return exactly the fields of the specification", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const made = yield* request("POST", "/v1/api-keys", { key, json: { name: "Fields" } })
      const created = ["id", "name", "key", "key_prefix", "mode", "scopes", "permissions", "expires_at", "created_at"]
      const { key: _, ...list } = Object.fromEntries(created.map((name) => [name, 0]))
      assert.deepStrictEqual([made.status, Object.keys(Object(made.json))], [201, ["data"]])
      assert.sameMembers(Object.keys(Object(made.at("data"))), created)
      assert.strictEqual(made.headers["location"], `/v1/api-keys/${String(made.at("data", "id"))}`)
      const listed = yield* request("GET", "/v1/api-keys", { key })
      assert.sameMembers(Object.keys(Object(listed.at("data", 0))), [
        ...Object.keys(list),
        "last_used_at",
        "last_used_ip",
        "last_used_endpoint",
        "requests",
        "rotated_at",
        "is_active"
      ])
      assert.match(String(made.at("data", "created_at")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    }))

  it.effect("the secret is shown once, and the database stores only its hash", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const made = yield* request("POST", "/v1/api-keys", {
        key,
        json: { name: "Once" },
        headers: { "idempotency-key": "k" }
      })
      const secret = String(made.at("data", "key"))
      assert.strictEqual((yield* request("GET", "/v1/api-keys", { key: secret })).status, 200)
      for (const path of ["/v1/api-keys", String(made.headers["location"])]) {
        assert.notInclude((yield* request("GET", path, { key })).text, secret.slice(12))
      }
      assert.deepStrictEqual(yield* placesOf(secret.slice(12)), [])
      assert.deepStrictEqual(yield* placesOf(secret.slice(0, 12)), ["api_keys"])
    }))

  it.effect("two nodes creating keys at the same time never exceed the plan's limit", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      const { key } = yield* makeAccount({ plan: "growth" })
      const ask = (i: number) =>
        nodes[i % 2]?.request("POST", "/v1/api-keys", { key, json: { name: `${i}` } }) ?? Effect.die("no node")
      const answers = yield* Effect.forEach(Array.from({ length: 100 }, (_, i) => i), ask, { concurrency: "unbounded" })
      const refused = answers.filter(({ status }) => status !== 201)
      assert.strictEqual(answers.length - refused.length, 2)
      for (const answer of refused) {
        assertRefused(answer, 402, "plan_limit_exceeded")
        assert.deepInclude(Object(answer.at("error")), { limit: 3, current: 3, resource: "api_keys" })
      }
    }))

  it.effect("a key revoked on one node is refused by the other node at once", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      const { accountId, key } = yield* makeAccount()
      for (let round = 0; round < 20; round++) {
        const doomed = yield* makeKey(accountId)
        const use = there.request("GET", "/v1/api-keys", { key: doomed.key })
        assert.strictEqual((yield* use).status, 200)
        assert.strictEqual((yield* here.request("DELETE", `/v1/api-keys/${doomed.id}`, { key })).status, 200)
        assertRefused(yield* use, 401, "revoked_api_key")
      }
    }))

  it.effect("a list that is read again shows what another node answered just before", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      const { key } = yield* makeAccount()
      const [changing, reading] = [yield* here.client(key), yield* there.client(key)]
      const ids = Effect.map(reading.apiKeys.list(), ({ data }) => data.map(({ id }) => id))
      const before = yield* ids
      for (let round = 0; round < 20; round++) {
        const { data: made } = yield* changing.apiKeys.create({ payload: { name: `Key ${round}` } })
        assert.deepStrictEqual(yield* ids, [made.id, ...before])
        yield* changing.apiKeys.revoke({ params: { id: made.id } })
        assert.deepStrictEqual(yield* ids, before)
      }
    }))

  it.effect("a repeated GET sends its read with the look-up of its key, so a revoked key costs one read in vain", () =>
    Effect.scoped(Effect.gen(function*() {
      const here = yield* Service
      const proxy = yield* makeDatabaseProxy()
      const there = yield* startNode({ env: { DATABASE_URL: proxy.url } })
      const { accountId, key } = yield* makeAccount()
      const doomed = yield* makeKey(accountId)
      const read = (status: number) =>
        Effect.gen(function*() {
          const path = `/v1/api-keys/${doomed.id}`
          assert.strictEqual((yield* there.request("GET", path, { key: doomed.key })).status, status)
          const executions = [...yield* proxy.executions]
          return executions.find(([statement]) => /^select id, name.* from api_keys\s+where id = /s.test(statement))
            ?.[1]
        })
      assert.deepStrictEqual([yield* read(200), yield* read(200)], [1, 2])
      assert.strictEqual((yield* here.request("DELETE", `/v1/api-keys/${doomed.id}`, { key })).status, 200)
      assert.deepStrictEqual([yield* read(401), yield* read(401)], [3, 3])
    })))

  it.effect("no request passes that begins after a revocation, on two nodes under load", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      const { accountId } = yield* makeAccount()
      const [owner, victim] = [yield* makeKey(accountId), yield* makeKey(accountId)]
      let isRevoked = false
      const late: Array<number> = []
      const use = (node: RunningNode) =>
        Effect.gen(function*() {
          const beganLate = isRevoked
          const { status } = yield* node.request("GET", "/v1/api-keys", { key: victim.key })
          if (beganLate) late.push(status)
        })
      const load = Effect.forEach(
        [here, there].flatMap((node) => Array.from({ length: 8 }, () => node)),
        (node) => Effect.repeat(use(node), { until: () => late.length > 400 }),
        { concurrency: "unbounded", discard: true }
      )
      const loading = yield* Effect.forkChild(load)
      for (let warm = 0; warm < 50; warm++) yield* use(here)
      const revoked = yield* here.request("DELETE", `/v1/api-keys/${victim.id}`, { key: owner.key })
      assert.strictEqual(revoked.status, 200)
      isRevoked = true
      yield* inPatience(Fiber.join(loading), () => `${late.length} late answers`, longer.load)
      assert.deepStrictEqual([...new Set(late)], [401])
    }))

  it.effect("a key can revoke itself", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key, keyId } = yield* makeAccount()
      assert.strictEqual((yield* request("DELETE", `/v1/api-keys/${keyId}`, { key })).status, 200)
      assertRefused(yield* request("GET", "/v1/api-keys", { key }), 401, "revoked_api_key")
    }))

  it.effect("a key works until the instant it expires, by the database's clock, and not after", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const now = Effect.map(
        sql`select extract(epoch from clock_timestamp())::float8 as t`,
        ([row]) => Number(row?.["t"])
      )
      const expiry = (yield* now) + 10
      const made = yield* request("POST", "/v1/api-keys", {
        key,
        json: { name: "Short", expires_at: new Date(expiry * 1000).toISOString() }
      })
      const end = Math.floor(expiry * 1000) / 1000
      const use = Effect.gen(function*() {
        const before = yield* now
        const answer = yield* request("GET", "/v1/api-keys", { key: String(made.at("data", "key")) })
        return { before, answer, after: yield* now }
      })
      const first = yield* use
      assert.strictEqual(first.answer.status, 200)
      const seen = [first]
      yield* eventually(
        Effect.tap(use, (one) => Effect.sync(() => seen.push(one))),
        ({ answer }) => answer.status !== 200,
        longer.turn
      )
      for (const { after, answer, before } of seen) {
        if (answer.status === 200) assert.isBelow(before, end)
        else {
          assertRefused(answer, 401, "expired_api_key")
          assert.isAtLeast(after, end)
        }
      }
      const read = yield* request("GET", String(made.headers["location"]), { key })
      assert.deepInclude(Object(read.at("data")), { is_active: false, name: "Short" })
    }))

  it.effect("last_used_at is updated at most once a minute", () =>
    Effect.gen(function*() {
      const { client } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const used = yield* makeKey(accountId)
      const api = yield* client(key)
      const lastUse = Effect.map(api.apiKeys.get({ params: { id: ApiKeyId.make(used.id) } }), ({ data }) =>
        data.last_used_at)
      assert.isNull(yield* lastUse)
      const user = yield* client(used.key)
      yield* user.apiKeys.list()
      const first = yield* eventually(lastUse, (at) =>
        at !== null)
      yield* Effect.all(Array.from({ length: 50 }, () => user.apiKeys.list()), { concurrency: "unbounded" })
      assert.strictEqual(yield* lastUse, first)
      const version = sql`select xmin::text as version from api_keys where id = ${used.id}`
      const before = yield* version
      yield* user.apiKeys.list()
      assert.deepStrictEqual(yield* version, before)
      yield* sql`update api_keys set last_used_at = now() - interval '61 seconds' where id = ${used.id}`
      yield* user.apiKeys.list()
      yield* eventually(lastUse, (at) => at !== null && first !== null && at > first)
    }))

  it.effect("the endpoint of a key's last use has the names of its parameters in braces, as the documentation does", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const used = yield* makeKey(accountId)
      yield* request("GET", `/v1/api-keys/${used.id}`, { key: used.key })
      const read = request("GET", `/v1/api-keys/${used.id}`, { key })
      const { at } = yield* eventually(read, ({ at }) => typeof at("data", "last_used_endpoint") === "string")
      assert.strictEqual(at("data", "last_used_endpoint"), "GET /v1/api-keys/{id}")
    }))

  it.effect("a key shows the address and the endpoint of its last use, and its requests of seven days by their answers", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const used = yield* makeKey(accountId)
      const read = request("GET", `/v1/api-keys/${used.id}`, { key })
      yield* sql`insert into api_key_requests (key_id, day, succeeded, refused, failed)
        select ${used.id}, (now() at time zone 'UTC')::date - days, 100, 10, 1 from unnest(array[5, 8]) days`
      yield* request("POST", "/v1/email/send", { key: used.key, json: { to: "ada@example.com" } })
      for (let index = 0; index < 3; index++) yield* request("GET", "/v1/api-keys", { key: used.key })
      const { at } = yield* eventually(read, ({ at }) => Number(at("data", "requests", "succeeded")) >= 103)
      assert.deepInclude(Object(at("data")), {
        last_used_ip: "127.0.0.1",
        last_used_endpoint: "POST /v1/email/send",
        requests: { succeeded: 103, refused: 11, failed: 1 }
      })
      const listed = yield* request("GET", "/v1/api-keys", { key })
      const all = listed.at("data") as ReadonlyArray<{ readonly id: number }> // a list, by the contract
      assert.deepStrictEqual(all.find(({ id }) => id === used.id), at("data"))
      const { cookie } = yield* signedInAs(accountId, "developer")
      const page = yield* request("GET", `/console/${accountId}/keys`, { headers: { cookie } })
      assert.match(page.text, />POST \/v1\/email\/send<\/code><br><code dir="ltr">127\.0\.0\.1</)
      assert.include(page.text, ">2xx</code> 103<")
      assert.match(page.text, new RegExp(`/requests\\?key_id=${used.id}&(?:amp;)?status=4xx">.*>4xx</code> 11<`))
      yield* request("DELETE", `/v1/api-keys/${used.id}`, { key })
      assert.lengthOf(yield* sql`select from api_key_requests where key_id = ${used.id}`, 0)
    }))

  it.effect("scopes limit a key to their channels, and permissions limit it further", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      const batch = "/v1/email/batches/email_batch_01ARZ3NDEKTSV4RRFFQ69G5FAV"
      const statuses = Effect.fnUntraced(function*(key: string) {
        const read = yield* request("GET", batch, { key })
        const write = yield* request("POST", `${batch}/cancel`, { key })
        const hooks = yield* request("GET", "/v1/webhooks", { key })
        return [read.status, write.status, hooks.status]
      })
      const cases = [
        [{}, [404, 404, 200]],
        [{ scopes: ["email:write"] }, [404, 404, 403]],
        [{ scopes: ["email:write", "sms:write"] }, [404, 404, 403]],
        [{ scopes: ["sms:write"] }, [403, 403, 403]],
        [{ permissions: ["emails:read"] }, [404, 403, 403]],
        [{ permissions: ["emails:read", "webhooks:read"] }, [404, 403, 200]],
        [{ scopes: ["email:write"], permissions: ["emails:read", "webhooks:read"] }, [404, 403, 403]],
        [{ scopes: ["sms:write"], permissions: ["emails:read"] }, [403, 403, 403]]
      ] as const
      for (const [options, wanted] of cases) {
        const { key } = yield* makeKey(accountId, options)
        assert.deepStrictEqual(yield* statuses(key), [...wanted], JSON.stringify(options))
      }
    }))

  it.effect("a key cannot create a key with rights that it lacks", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { permissions: ["keys:read", "keys:write", "emails:read"] })
      const make = (json: object) => request("POST", "/v1/api-keys", { key, json: { name: "Child", ...json } })
      for (const wanted of [{}, { permissions: [] }, { permissions: ["emails:write"] }, { scopes: ["email:write"] }]) {
        assertRefused(yield* make(wanted), 403, "insufficient_permission")
      }
      assertRefused(yield* make({ permissions: ["keys:write", "account:write"] }), 403, "insufficient_permission")
      const child = yield* make({ permissions: ["emails:read", "emails:read"], scopes: ["email:write"] })
      assert.strictEqual(child.status, 201)
      assert.deepStrictEqual(child.at("data", "permissions"), ["emails:read"])
      const scoped = yield* makeKey(accountId, { scopes: ["email:write"] })
      const refused = yield* request("POST", "/v1/api-keys", { key: scoped.key, json: { name: "Child" } })
      assertRefused(refused, 403, "insufficient_scope")
    }))

  it.effect("unknown scopes or permissions and invalid expiry times are refused with 422", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const wrong = [
        [{ scopes: ["everything"] }, "scopes[0]"],
        [{ scopes: "email:write" }, "scopes"],
        [{ scopes: ["email:write", null] }, "scopes[1]"],
        [{ permissions: ["*"] }, "permissions[0]"],
        [{ permissions: ["emails:delete"] }, "permissions[0]"],
        [{ expires_at: "tomorrow" }, "expires_at"],
        [{ expires_at: 4102444800 }, "expires_at"],
        [{ expires_at: "2999-01-31T09:00:00" }, "expires_at"],
        [{ expires_at: "2999-02-30T09:00:00Z" }, "expires_at"],
        [{ expires_at: "2999-13-01T09:00:00Z" }, "expires_at"],
        [{ expires_at: "2999-01-31T24:00:00Z" }, "expires_at"],
        [{ expires_at: "2999-01-31T09:00:00+16:00" }, "expires_at"],
        [{ expires_at: "0000-01-31T09:00:00Z" }, "expires_at"],
        [{ expires_at: "2020-01-31T09:00:00Z" }, "expires_at"]
      ] as const
      for (const [json, param] of wrong) {
        const answer = yield* request("POST", "/v1/api-keys", { key, json: { name: "Wrong", ...json } })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param)
      }
      const fine = yield* request("POST", "/v1/api-keys", {
        key,
        json: { name: "Fine", expires_at: "2996-02-29t09:00:00.5-08:00" }
      })
      assert.strictEqual(fine.at("data", "expires_at"), "2996-02-29T17:00:00.500000Z")
    }))
})
