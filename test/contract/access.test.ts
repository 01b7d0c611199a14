import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { Authentication } from "../../src/platform/http/Authentication.ts"
import { BodyLimit, RequestRules } from "../../src/platform/http/RequestRules.ts"
import { Permission, Scope } from "../../src/values/Permission.ts"
import { makeAccount, makeKey, type RequestOptions, Service } from "../support/Service.ts"
import { accessTable, type Row } from "./access.table.ts"
import { assertRefused, endpoints, fill, guarded } from "./contract.ts"

describe("access rules of the contract", () => {
  it("every endpoint declares the access that the table gives it, and every row has an endpoint", () => {
    const declared = endpoints.map(({ name, rule }) => {
      if (rule?.kind !== "account") return [name, rule?.kind]
      const { mode, paid, permission, scopes } = rule
      const facts = {
        ...(permission !== undefined && { permission }),
        ...(paid !== "no" && { paid }),
        ...(mode && { mode })
      }
      return [name, { scopes, ...facts }]
    })
    assert.deepStrictEqual(Object.fromEntries(declared), accessTable)
  })

  it("every endpoint that is not public has the Authentication middleware, and no public one has it", () => {
    const authenticated = endpoints.filter(({ middleware }) => middleware.includes(Authentication.key))
    assert.deepStrictEqual(authenticated.map(({ name }) => name), guarded.map(({ name }) => name))
  })

  it("every endpoint has the RequestRules middleware, within the Authentication", () => {
    const misplaced = endpoints.filter(({ middleware }) => middleware[0] !== RequestRules.key)
    assert.deepStrictEqual(misplaced.map(({ name }) => name), [])
  })
})

/** Callers of every kind, made once. */
class Callers extends Context.Service<Callers>()("messaging-service/test/contract/access.test/Callers", {
  make: Effect.gen(function*() {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const { accountId, key } = yield* makeAccount()
    const [revoked, expired] = [yield* makeKey(accountId), yield* makeKey(accountId)]
    yield* request("DELETE", `/v1/api-keys/${revoked.id}`, { key })
    yield* Effect.orDie(sql`update api_keys set expires_at = now() where id = ${expired.id}`)
    const [trial, lapsed] = [yield* makeAccount({ trial: true }), yield* makeAccount({ trial: true })]
    yield* Effect.orDie(sql`update accounts set trial_ends_at = now() where id = ${lapsed.accountId}`)
    const unconfirmed = yield* makeAccount()
    yield* Effect.orDie(sql`update accounts set awaits_confirmation = true where id = ${unconfirmed.accountId}`)

    const keys = new Map<string, string>()
    const keyWith = Effect.fnUntraced(
      function*(scopes: ReadonlyArray<Scope>, permissions: ReadonlyArray<Permission>) {
        const name = JSON.stringify([scopes, permissions])
        const found = keys.get(name) ?? (yield* makeKey(accountId, { scopes, permissions })).key
        keys.set(name, found)
        return found
      }
    )

    const login = Effect.suspend(() => {
      const token = Tokens.mint("lt_live_")
      return sql`insert into login_sessions (token_hash, account_id, expires_at)
        values (${Tokens.hash(token)}, ${accountId}, now() + interval '1 day')`.pipe(Effect.as(token), Effect.orDie)
    })

    return {
      key,
      testKey: (yield* makeKey(accountId, { mode: "test" })).key,
      keyWith,
      login,
      trial: trial.key,
      lapsed: lapsed.key,
      unconfirmed: unconfirmed.key,
      invalid: {
        missing_api_key: [{}, { headers: { authorization: "Basic c2tfbGl2ZV8=" } }, {
          headers: { authorization: "Bearer " }
        }],
        invalid_api_key: [Tokens.mint("sk_live_"), Tokens.mint("sk_test_"), Tokens.mint("lt_live_"), `${key}x`].map((
          wrong
        ) => ({ key: wrong })),
        revoked_api_key: [{ key: revoked.key }],
        expired_api_key: [{ key: expired.key }]
      } satisfies Record<string, ReadonlyArray<RequestOptions>>
    }
  })
}) {
  static readonly layer = Layer.effect(Callers, Callers.make).pipe(Layer.provideMerge(Service.layer()))
}

/** The answers to accounts that have no plan yet or whose owner has not confirmed the address. */
const standings = {
  trial: { subscription: [402, "subscription_required"], sending: undefined },
  lapsed: { subscription: [402, "subscription_required"], sending: [402, "subscription_expired"] },
  unconfirmed: { subscription: undefined, sending: [403, "address_unconfirmed"] }
} as const

/** Answers to callers who are not admitted. Everything else comes from the endpoint. */
const refusals = [
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "insufficient_scope",
  "insufficient_permission",
  "live_key_required",
  "address_unconfirmed",
  "subscription_required",
  "subscription_expired"
]

const concurrently = { concurrency: 8, discard: true } as const

const unknownId = "9007199254740991"

const rows = endpoints.flatMap((endpoint) => {
  const row = accessTable[endpoint.name]
  return row === undefined || row === "public" ? [] : [{ ...endpoint, row }]
})

/** Every request is malformed where it can be, so that an endpoint which checks its body first is seen to. */
const malformed = (method: string): RequestOptions => ({
  ...((method === "POST" || method === "PUT") && { body: "{" }),
  ...(method === "POST" && { headers: { "idempotency-key": "é" } })
})

layer(Callers.layer)("access over HTTP", (it) => {
  for (const { declaration, method, name, path, row } of rows) {
    const { mode, paid, permission, scopes }: Row = row
    const ask = ({ headers, ...options }: RequestOptions) =>
      Effect.flatMap(Service, ({ request }) => {
        const wrong = malformed(method)
        return request(method, fill(path, unknownId), {
          ...wrong,
          ...options,
          headers: { ...wrong.headers, ...headers }
        })
      })
    const admitted = Effect.fnUntraced(function*(key: string) {
      const { at, status, text } = yield* ask({ key })
      assert.isBelow(status, 500, text)
      assert.notInclude(refusals, at("error", "type"), text)
    })

    it.effect(`${name} answers 401 without a valid key, whatever the body`, () =>
      Effect.gen(function*() {
        const { raw } = yield* Service
        const { invalid } = yield* Callers
        const wrong = Object.entries(invalid).flatMap(([type, requests]) =>
          requests.map((options) => ({ options, type }))
        )
        yield* Effect.forEach(
          wrong,
          Effect.fnUntraced(function*({ options, type }) {
            const answer = yield* ask(options)
            assertRefused(answer, 401, type)
            assert.strictEqual(answer.headers["www-authenticate"], `Bearer realm="api"`)
          }),
          concurrently
        )
        assertRefused(yield* ask({ body: "x", headers: { "content-type": "text/plain" } }), 401, "missing_api_key")
        const tooLong = Context.get(declaration.annotations, BodyLimit).bytes + 1
        const head = `${method} ${fill(path, unknownId)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
        assert.match(yield* raw(`${head}Content-Length: ${tooLong}\r\n\r\n{`), /^HTTP\/1\.1 401 /)
      }))

    it.effect(`${name} admits keys with its scopes and its permission, and no others`, () =>
      Effect.gen(function*() {
        const { key, keyWith, login } = yield* Callers
        yield* Effect.forEach(
          Scope.literals.filter((scope) => !scopes.includes(scope)),
          Effect.fnUntraced(function*(scope) {
            const answer = yield* ask({ key: yield* keyWith([scope], []) })
            assertRefused(answer, 403, "insufficient_scope")
            assert.deepStrictEqual(answer.at("error", "required"), scopes)
            assert.strictEqual(
              answer.headers["www-authenticate"],
              `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`
            )
          }),
          concurrently
        )
        const others = Permission.literals.filter((literal) => literal !== permission)
        const lists = scopes.length === 0 ? [[]] : [[], ...scopes.map((scope) => [scope])]
        for (const list of lists) {
          const answer = yield* ask({ key: yield* keyWith(list, others) })
          if (permission === undefined) assert.notInclude(refusals, answer.at("error", "type"))
          else {
            assertRefused(answer, 403, "insufficient_permission")
            assert.strictEqual(answer.at("error", "required"), permission)
            yield* admitted(yield* keyWith(list, [permission]))
          }
        }
        yield* admitted(key)
        yield* admitted(yield* login)
      }))

    it.effect(`${name} admits an account in its trial, after it, and before its confirmation as the row says`, () =>
      Effect.gen(function*() {
        const callers = yield* Callers
        for (const standing of ["trial", "lapsed", "unconfirmed"] as const) {
          const refusal = paid === undefined ? undefined : standings[standing][paid]
          if (refusal === undefined) yield* admitted(callers[standing])
          else assertRefused(yield* ask({ key: callers[standing] }), refusal[0], refusal[1])
        }
      }))

    it.effect(`${name} admits keys of the mode that the row says`, () =>
      Effect.gen(function*() {
        const { key, testKey } = yield* Callers
        if (mode === "live") assertRefused(yield* ask({ key: testKey }), 403, "live_key_required")
        else yield* admitted(testKey)
        if (mode === "test") assertRefused(yield* ask({ key }), 403, "test_key_required")
      }))

    if (method === "POST") {
      it.effect(`${name} answers 422 to a malformed Idempotency-Key`, () =>
        Effect.gen(function*() {
          const { key, testKey } = yield* Callers
          const answer = yield* ask({ key: mode === "test" ? testKey : key, body: "{}" })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), "Idempotency-Key")
        }))
    }
  }

  for (const { method, name, path } of endpoints.filter(({ name: of }) => accessTable[of] === "public")) {
    it.effect(`${name} admits everybody, also with an invalid key`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const body = method === "POST" ? { body: "{" } : {}
        for (const key of [undefined, Tokens.mint("sk_live_")]) {
          assert.strictEqual((yield* request(method, path, { ...body, key })).status, method === "POST" ? 400 : 200)
        }
      }))
  }

  it.effect("a key in another place gets an error that names the place and says what to write", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* Callers
      const places = [
        ["x-api-key", "The header X-API-Key is not read.", "", { "x-api-key": key }],
        ["authorization", "The header Authorization lacks the word Bearer before the key.", "", { authorization: key }],
        ["query", "A key in the URL is not read, because URLs are logged: revoke it.", `?api_key=${key}`, {}]
      ] as const
      for (const [place, hint, query, headers] of places) {
        const answer = yield* request("GET", `/v1/webhooks${query}`, { headers })
        assertRefused(answer, 401, "missing_api_key")
        assert.strictEqual(
          answer.at("error", "message"),
          `${hint} Send your API key in the header Authorization: Bearer <API_KEY>.`
        )
        assert.strictEqual(answer.at("error", "found_in"), place)
        assert.notInclude(answer.text, key)
      }
    }))

  it.effect("the key is checked before the scope, the permission, the plan and the body", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key: trial } = yield* makeAccount({ trial: true })
      const scoped = yield* makeKey(accountId, { scopes: ["email:write"], permissions: ["emails:write"] })
      const limited = yield* makeKey(accountId, { permissions: ["emails:write"] })
      const post = (key?: string) => request("POST", "/v1/webhooks", { key, body: "{" })
      assertRefused(yield* post(), 401, "missing_api_key")
      assertRefused(yield* post(scoped.key), 403, "insufficient_scope")
      assertRefused(yield* post(limited.key), 403, "insufficient_permission")
      assertRefused(yield* post(trial), 402, "subscription_required")
      assertRefused(yield* post((yield* Callers).key), 400, "invalid_json")
    }))
})
