import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { settings } from "../../../src/platform/config/settings.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { NotFound } from "../../../src/platform/http/ApiErrors.ts"
import { Idempotency, idempotencyColumn } from "../../../src/platform/http/Idempotency.ts"
import { assertRefused } from "../../contract/contract.ts"
import { mainKey } from "../../support/bulkMail.ts"
import {
  type Answer,
  eventually,
  makeAccount,
  makeKey,
  type RunningNode,
  Service,
  startNode
} from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** A second node with the same database. */
class SecondNode extends Context.Service<SecondNode, RunningNode>()(
  "messaging-service/test/platform/http/Idempotency.test/SecondNode"
) {
  static readonly layer = Layer.effect(SecondNode, startNode())
}

const twoNodes = SecondNode.layer.pipe(Layer.provideMerge(Service.layer()))

const same = ({ headers, status, text }: Answer) => ({
  status,
  text,
  location: headers["location"],
  type: headers["content-type"]
})

layer(twoNodes)("Idempotency-Key", (it) => {
  const post = (path: string, key: string, idempotencyKey: string, json: unknown) =>
    Effect.flatMap(
      Service,
      ({ request }) => request("POST", path, { key, json, headers: { "idempotency-key": idempotencyKey } })
    )

  const keysOf = (accountId: number) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select id from api_keys where account_id = ${accountId}`)

  it.effect("returns the same response to the same request, and repeats nothing", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      const first = yield* post("/v1/api-keys", key, "a", { name: "Once" })
      const second = yield* post("/v1/api-keys", key, "a", { name: "Once" })
      assert.strictEqual(first.status, 201)
      assert.isUndefined(first.headers["idempotency-replayed"])
      assert.strictEqual(second.headers["idempotency-replayed"], "true")
      assert.deepStrictEqual(same(second), same(first))
      assert.strictEqual((yield* keysOf(accountId)).length, 2)
      assert.isDefined(second.headers["x-ratelimit-remaining"])
    }))

  it.effect("is scoped to one caller, one method and one path", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      const other = yield* makeKey(accountId)
      const answers = [
        yield* post("/v1/api-keys", key, "shared", { name: "One" }),
        yield* post("/v1/api-keys", other.key, "shared", { name: "One" }),
        yield* post("/v1/webhooks", key, "shared", { url: "http://127.0.0.1:14999/", events: ["*"] })
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 201])
      assert.deepStrictEqual(answers.map(({ headers }) => headers["idempotency-replayed"]), [
        undefined,
        undefined,
        undefined
      ])
    }))

  it.effect("returns 409 for another body under the same key", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      yield* post("/v1/api-keys", key, "b", { name: "One" })
      assertRefused(yield* post("/v1/api-keys", key, "b", { name: "Two" }), 409, "idempotency_key_reused")
      assertRefused(yield* post("/v1/api-keys", key, "b", {}), 409, "idempotency_key_reused")
      assert.strictEqual((yield* keysOf(accountId)).length, 2)
    }))

  it.effect("executes one of 100 parallel requests on two nodes; the others get its response or must wait", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      const { accountId, key } = yield* makeAccount()
      const send = (i: number) =>
        nodes[i % 2]?.request("POST", "/v1/api-keys", {
          key,
          json: { name: "Storm" },
          headers: { "idempotency-key": "storm" }
        }) ?? Effect.die("no node")
      const answers = yield* Effect.forEach(Array.from({ length: 100 }, (_, i) => i), send, {
        concurrency: "unbounded"
      })
      const fresh = answers.filter(({ headers, status }) =>
        status === 201 && headers["idempotency-replayed"] === undefined
      )
      const replayed = answers.filter(({ headers }) => headers["idempotency-replayed"] === "true")
      const waiting = answers.filter(({ status }) => status === 409)
      assert.deepStrictEqual([fresh.length, replayed.length + waiting.length], [1, 99])
      for (const answer of replayed) assert.strictEqual(answer.text, fresh[0]?.text)
      for (const answer of waiting) {
        assertRefused(answer, 409, "idempotency_in_progress")
        assert.strictEqual(answer.headers["retry-after"], "1")
      }
      assert.strictEqual((yield* keysOf(accountId)).length, 2)
      const late = yield* send(1)
      assert.deepStrictEqual([late.headers["idempotency-replayed"], late.text], ["true", fresh[0]?.text])
    }))

  it.effect("stores the response encrypted, so that a secret shown once is not readable in the database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const made = yield* post("/v1/api-keys", key, "secret", { name: "Hidden" })
      const secret = String(made.at("data", "key"))
      assert.match(secret, /^sk_live_/)
      const [row] = yield* sql`select count(*) as n,
        bool_or(position(${Buffer.from(secret)} in body) > 0 or r::text like ${`%${secret}%`}) as readable
        from idempotency_records r where key = 'secret'`
      assert.deepStrictEqual({ ...row }, { n: 1, readable: false })
    }))

  it.effect("replays refusals of the request: 400, 404 and 422", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const cancel = "/v1/email/batches/email_batch_01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel"
      const asks = [
        [422, () => post("/v1/api-keys", key, "422", { name: "" })],
        [404, () => post(cancel, key, "404", {})],
        [400, () => request("POST", "/v1/api-keys", { key, body: "{", headers: { "idempotency-key": "400" } })]
      ] as const
      for (const [status, ask] of asks) {
        const [first, second] = [yield* ask(), yield* ask()]
        assert.strictEqual(first.status, status)
        assert.strictEqual(second.headers["idempotency-replayed"], "true")
        assert.deepStrictEqual(same(second), same(first))
      }
    }))

  it.effect("stores no 402, so that the same request succeeds after payment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      const ask = post("/v1/api-keys", key, "402", { name: "One more" })
      assertRefused(yield* ask, 402, "plan_limit_exceeded")
      yield* sql`update accounts set plan = 'business' where id = ${accountId}`
      const paid = yield* ask
      assert.deepStrictEqual([paid.status, paid.headers["idempotency-replayed"]], [201, undefined])
    }))

  it.effect("stores no 401, 403, 415 and 429, so that the corrected request succeeds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const scoped = yield* makeKey(accountId, { scopes: ["email:write"] })
      const granted = yield* makeKey(accountId, { permissions: ["keys:write"] })
      yield* post("/v1/api-keys", "sk_live_nothing", "later", { name: "A" })
      yield* post("/v1/api-keys", scoped.key, "later", { name: "A" })
      const wide = yield* post("/v1/api-keys", granted.key, "later", { name: "A" })
      assert.strictEqual(wide.status, 403)
      yield* request("POST", "/v1/api-keys", {
        key,
        body: "A",
        headers: { "idempotency-key": "later", "content-type": "text/plain" }
      })
      const stored = yield* sql`select scope from idempotency_records where key = 'later'`
      assert.deepStrictEqual(stored, [])
      const narrow = yield* post("/v1/api-keys", granted.key, "later", { name: "A", permissions: ["keys:write"] })
      assert.strictEqual(narrow.status, 201)
    }))

  it.effect("must be 1 to 255 visible ASCII characters; any other key gets 422 and does nothing", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      for (const bad of ["", "a b", "x".repeat(256), "t\tab", "caf\xe9"]) {
        const answer = yield* post("/v1/api-keys", key, bad, { name: "No" })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), "Idempotency-Key")
      }
      assert.strictEqual((yield* keysOf(accountId)).length, 1)
      for (const good of ["x".repeat(255), "!", "~", "{\"a\":1}"]) {
        assert.strictEqual((yield* post("/v1/api-keys", key, good, { name: "Yes" })).status, 201)
      }
    }))

  it.effect("has no effect on other methods", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      for (let i = 0; i < 2; i++) {
        const answer = yield* request("GET", "/v1/api-keys", { key, headers: { "idempotency-key": "get" } })
        assert.deepStrictEqual([answer.status, answer.headers["idempotency-replayed"]], [200, undefined])
      }
    }))

  it.effect("expires after 24 hours, and not before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      yield* post("/v1/api-keys", key, "old", { name: "Day one" })
      yield* sql`update idempotency_records set created_at = now() - interval '23 hours 55 minutes' where key = 'old'`
      const early = yield* post("/v1/api-keys", key, "old", { name: "Day one" })
      assert.deepStrictEqual([early.status, early.headers["idempotency-replayed"]], [201, "true"])
      yield* sql`update idempotency_records set created_at = now() - interval '24 hours' where key = 'old'`
      const again = yield* post("/v1/api-keys", key, "old", { name: "Day two" })
      assert.deepStrictEqual([again.status, again.headers["idempotency-replayed"]], [201, undefined])
      assert.strictEqual((yield* keysOf(accountId)).length, 3)
    }))

  it.effect("gives overlapping requests one answer, although the first was refused and the second could succeed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const add = post("/v1/email/domains", key, "overlap", { domain: "overlap.example" })
      yield* post("/v1/email/domains", key, "before", { domain: "overlap.example" })
      const blocked = (count: number) =>
        eventually(
          sql`select from pg_locks where relation = 'idempotency_records'::regclass and not granted`,
          (rows) => rows.length === count
        )
      const [refused, repeated] = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`lock table idempotency_records in share row exclusive mode`
        const first = yield* Effect.forkChild(add)
        yield* blocked(1)
        yield* sql`delete from email_domains where account_id = ${accountId}`
        const second = yield* Effect.forkChild(add)
        return [first, second] as const
      })).pipe(Effect.flatMap(Fiber.joinAll))
      assert.deepStrictEqual(repeated && same(repeated), refused && same(refused))
      assert.deepStrictEqual(same(yield* add), refused && same(refused))
    }))
})

const byHand = Idempotency.layer.pipe(
  Layer.provide(AppConfig.layer),
  Layer.provideMerge(Vault.layer(mainKey)),
  Layer.provideMerge(TestDatabase.layer)
)

layer(byHand, { excludeTestServices: true })("Idempotency", (it) => {
  it.effect("never replaces a stored answer by the refusal of a slower request, which gets that answer too", () =>
    Effect.gen(function*() {
      const vault = yield* Vault
      const { once } = yield* Idempotency
      const { accountId } = yield* makeAccount()
      const [scope, key] = ["test POST /", "slow"]
      const body = vault.seal(idempotencyColumn.what(scope, key), Buffer.from("accepted"))
      const fingerprint = NodeCrypto.createHash("sha256").update("{}").digest()
      const row = { account_id: accountId, scope, key, fingerprint, status: 202, body }
      // Stands for a repetition that succeeds after the refusal rolled back, and before it is stored.
      const store = Effect.flatMap(
        PgClient.PgClient,
        (other) => other`insert into idempotency_records ${other.insert({ ...row, headers: other.json({}) })}`
      ).pipe(
        Effect.provide(Layer.fresh(TestDatabase.layerClient))
      )
      const request = HttpServerRequest.fromWeb(
        new Request("http://node/", { method: "POST", headers: { "idempotency-key": key } })
      )
      const refused = Effect.andThen(store, new NotFound())
      const answer = yield* once({ caller: { name: "test", accountId }, body: "{}", waits: false }, refused).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request)
      )
      assert.strictEqual(answer.status, 202)
      const [stored] = yield* (yield* SqlClient.SqlClient)`select status from idempotency_records where key = ${key}`
      assert.deepStrictEqual({ ...stored }, { status: 202 })
    }))

  it.effect("lets no holder whose claim expired release the claim of the next one, whose answer is stored", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { once } = yield* Idempotency
      const { accountId } = yield* makeAccount()
      const request = HttpServerRequest.fromWeb(
        new Request("http://node/", { method: "POST", headers: { "idempotency-key": "frozen" } })
      )
      const ask = (endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
        once({ caller: { name: "test", accountId }, body: "{}", waits: true }, endpoint).pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, request)
        )
      /** A request whose endpoint waits until `end`. */
      const begin = Effect.fnUntraced(function*(status: number) {
        const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const endpoint = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate))
        const answer = yield* Effect.forkChild(ask(Effect.as(endpoint, HttpServerResponse.empty({ status }))))
        yield* Deferred.await(begun)
        const statusOf = Effect.map(Fiber.join(answer), (it) => it.status)
        return { end: Effect.andThen(Deferred.succeed(gate, undefined), statusOf) }
      })
      const repeated = ask(Effect.die("the endpoint runs once more"))
      const first = yield* begin(503)
      yield* sql`update idempotency_claims set expires_at = now() where key = 'frozen'`
      const next = yield* begin(202)
      assert.strictEqual(yield* first.end, 503)
      assert.strictEqual((yield* Effect.flip(repeated))._tag, "IdempotencyInProgress")
      assert.strictEqual(yield* next.end, 202)
      assert.strictEqual((yield* repeated).status, 202)
    }))

  it.effect("keeps the claim of a webhook test until the longest WEBHOOK_TIMEOUT_SECONDS and a wait of 10 seconds end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { once } = yield* Idempotency
      const { accountId } = yield* makeAccount()
      const request = HttpServerRequest.fromWeb(
        new Request("http://node/", { method: "POST", headers: { "idempotency-key": "long" } })
      )
      const claimed = sql`select extract(epoch from expires_at - now())::float8 as left
        from idempotency_claims where key = 'long'`
      let left = 0
      const endpoint = Effect.map(Effect.orDie(claimed), ([row]) => {
        left = Number(row?.["left"])
        return HttpServerResponse.empty()
      })
      yield* once({ caller: { name: "test", accountId }, body: "{}", waits: true }, endpoint).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request)
      )
      const isAllowed = (timeout: number) => Option.isSome(settings.webhookTimeoutSeconds.parse(String(timeout)))
      const longest = Array.from({ length: 1_000 }, (_, timeout) => timeout).findLast(isAllowed) ?? 0
      assert.isAbove(left, longest + 10)
    }))
})
