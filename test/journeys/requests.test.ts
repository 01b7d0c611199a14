import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { samples } from "../contract/samples.ts"
import { type Answer, eventually, makeAccount, makeKey, Service } from "../support/Service.ts"

type Item = Readonly<Record<string, unknown>>

const itemsOf = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.at("data") as ReadonlyArray<Item> // a list, by the contract
}

const idOf = ({ headers }: Answer) => headers["x-request-id"] ?? ""

/** The record of a request, once it is stored. */
const recordOf = Effect.fnUntraced(function*(answer: Answer, key: string) {
  const { request } = yield* Service
  const found = yield* eventually(
    request("GET", `/v1/requests/${idOf(answer)}`, { key }),
    ({ status }) => status === 200
  )
  return Object(found.at("data"))
})

const mail = samples["POST /v1/email/send"]

layer(Service.layer(), { excludeTestServices: true })("the log of requests", (it) => {
  it.effect("tells why a request was refused, with the fields at fault, its key, its address and its time", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key, keyId } = yield* makeAccount()
      const json = { to: ["ada@example.com", "ada@"], subject: "The secret plan", text: "attack at dawn" }
      const answer = yield* request("POST", "/v1/email/send?draft=attack", { key, json })
      assert.strictEqual(answer.status, 422, answer.text)
      const { created_at, duration_ms, ...record } = yield* recordOf(answer, key)
      assert.match(created_at, /^20\d\d-.*Z$/)
      assert.isAtLeast(duration_ms, 0)
      const { doc_url: _, ...error } = Object(answer.at("error"))
      assert.deepStrictEqual(record, {
        id: answer.at("meta", "request_id"),
        method: "POST",
        path: "/v1/email/send",
        route: "/v1/email/send",
        status: 422,
        error,
        made: null,
        key_id: keyId,
        key_prefix: key.slice(0, 12),
        person_id: null,
        ip: "127.0.0.1"
      })
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        yield* sql`select from request_log r where r::text ~ 'attack|secret plan' or strpos(r::text, ${key}) > 0`,
        []
      )
    }))

  it.effect("tells what a request has made, and keeps no read that succeeded", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const read = yield* request("GET", "/v1/account", { key })
      const missing = yield* request("GET", "/v1/email/messages/999999999", { key })
      const sent = yield* request("POST", "/v1/email/send", { key, json: mail })
      const template = yield* request("POST", "/v1/email/templates", {
        key,
        json: samples["POST /v1/email/templates"],
        headers: { "idempotency-key": "once" }
      })
      assert.strictEqual((yield* recordOf(sent, key)).made, `/v1/email/messages/${sent.at("data", "id")}`)
      assert.strictEqual((yield* recordOf(template, key)).made, `/v1/email/templates/${template.at("data", "id")}`)
      assert.strictEqual((yield* recordOf(missing, key)).error.type, "not_found")
      assertRefused(yield* request("GET", `/v1/requests/${idOf(read)}`, { key }), 404, "not_found")
      assert.deepStrictEqual(itemsOf(yield* request("GET", "/v1/requests", { key })).map(({ id }) => id), [
        idOf(template),
        idOf(sent),
        idOf(missing)
      ])
      const again = yield* request("POST", "/v1/email/templates", {
        key,
        json: samples["POST /v1/email/templates"],
        headers: { "idempotency-key": "once" }
      })
      assert.strictEqual((yield* recordOf(again, key)).made, `/v1/email/templates/${template.at("data", "id")}`)
    }))

  it.effect("finds requests by status, error, method, path, key, id and time, page by page", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const second = yield* makeKey(accountId, { scopes: ["sms:write"] })
      const sent = yield* request("POST", "/v1/email/send", { key, json: mail })
      const invalid = yield* request("POST", "/v1/email/send", { key, json: {} })
      const missing = yield* request("DELETE", "/v1/webhooks/999999999", { key })
      const refused = yield* request("GET", "/v1/webhooks", { key: second.key })
      yield* recordOf(refused, key)
      const all = [refused, missing, invalid, sent].map(idOf)
      const list = (query: string) => request("GET", `/v1/requests${query}`, { key })
      const ids = (query: string) => Effect.map(list(query), (answer) => itemsOf(answer).map(({ id }) => id))
      assert.deepStrictEqual(yield* ids(""), all)
      assert.deepStrictEqual(yield* ids("?status=4xx"), all.slice(0, 3))
      assert.deepStrictEqual(yield* ids("?status=422"), [idOf(invalid)])
      assert.deepStrictEqual(yield* ids("?status=2xx"), [idOf(sent)])
      assert.deepStrictEqual(yield* ids("?error_type=not_found"), [idOf(missing)])
      assert.deepStrictEqual(yield* ids("?method=POST&path=/v1/email"), [idOf(invalid), idOf(sent)])
      assert.deepStrictEqual(yield* ids("?path=/v1/web"), [idOf(refused), idOf(missing)])
      assert.deepStrictEqual(yield* ids(`?key_id=${second.id}`), [idOf(refused)])
      assert.deepStrictEqual(yield* ids(`?request_id=${idOf(invalid).toUpperCase()}`), [idOf(invalid)])
      const at = String((yield* recordOf(missing, key)).created_at)
      assert.deepStrictEqual(yield* ids(`?from_date=${at}`), all.slice(0, 2))
      assert.deepStrictEqual(yield* ids(`?to_date=${at}`), all.slice(2))
      const first = yield* list("?per_page=3")
      assert.deepStrictEqual(itemsOf(first).map(({ id }) => id), all.slice(0, 3))
      const next = yield* list(`?per_page=3&cursor=${first.at("meta", "next_cursor")}`)
      assert.deepStrictEqual([itemsOf(next).map(({ id }) => id), next.at("meta", "next_cursor")], [all.slice(3), null])
      for (const query of ["?status=99", "?status=6xx", "?request_id=nonsense", "?method=HEAD", "?from_date=noon"]) {
        assertRefused(yield* list(query), 422, "validation_error")
      }
    }))

  it.effect("finds refused sends by a recipient in any spelling, of the account alone, and stores no recipient", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const other = yield* makeAccount()
      const many = Array.from({ length: 11 }, (_, i) => `Dora${i}@example.com`)
      const step = { channel: "sms", content: "Hello" }
      const post = (path: string, json: unknown) => request("POST", path, { key, json })
      const mails = yield* post("/v1/email/send", { to: many, cc: "ada@", subject: "Hello", text: "Hello" })
      const batch = yield* post("/v1/email/send-bulk", {
        from: "us@unverified.example",
        subject: "Hello",
        html: "Hello",
        recipients: [{ to: "Dora0@example.com" }, "emil@example.com"]
      })
      const sms = yield* post("/v1/sms/send", { to: "+250788123456", content: "" })
      const steps = yield* post("/v1/messages", { to: { phone: "+250788123456" }, steps: [step, step] })
      const sent = yield* post("/v1/email/send", { to: "dora0@example.com", subject: "Hello", text: "Hello" })
      const broken = yield* request("POST", "/v1/email/send", {
        key,
        body: "{\"to\": \"dora0@example.com\"",
        headers: { "content-type": "application/json" }
      })
      assert.deepStrictEqual([mails, batch, sms, steps, sent, broken].map(({ status }) => status), [
        422,
        422,
        422,
        422,
        202,
        400
      ])
      yield* recordOf(broken, key)
      const found = Effect.fnUntraced(function*(recipient: string, as = key) {
        const answer = yield* request("GET", `/v1/requests?recipient=${encodeURIComponent(recipient)}`, { key: as })
        return itemsOf(answer).map(({ id }) => id)
      })
      for (const spelled of ["dora0@example.com", "Dora <DORA0@example.com>", " dora0@EXAMPLE.com "]) {
        assert.deepStrictEqual(yield* found(spelled), [idOf(batch), idOf(mails)], spelled)
      }
      for (const spelled of ["+250788123456", "250 788-123-456", "00250788123456"]) {
        assert.deepStrictEqual(yield* found(spelled), [idOf(steps), idOf(sms)], spelled)
      }
      assert.deepStrictEqual(yield* found("emil@example.com"), [idOf(batch)])
      assert.deepStrictEqual(yield* found("dora9@example.com"), [idOf(mails)])
      for (const none of ["dora10@example.com", "dora", "example.com"]) {
        assert.deepStrictEqual(yield* found(none), [], none)
      }
      assert.deepStrictEqual(yield* found("dora0@example.com", other.key), [])
      for (const bad of ["", "x".repeat(321)]) {
        assertRefused(yield* request("GET", `/v1/requests?recipient=${bad}`, { key }), 422, "validation_error")
      }
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        yield* sql`select from request_log r where r::text ~* 'dora|emil|250788123456' or (status < 400 and recipients is not null)`,
        []
      )
    }))

  it.effect("keeps the requests of live and test keys apart, those of an expired key, and none of an unknown one", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const made = yield* request("POST", "/v1/api-keys", { key, json: { name: "CI", mode: "test" } })
      const testKey = String(made.at("data", "key"))
      const ofTest = yield* request("POST", "/v1/email/send", { key: testKey, json: {} })
      yield* recordOf(ofTest, testKey)
      assertRefused(yield* request("GET", `/v1/requests/${idOf(ofTest)}`, { key }), 404, "not_found")
      const { id, key: old } = yield* makeKey(accountId, {})
      yield* sql`update api_keys set expires_at = now() - interval '1 minute' where id = ${id}`
      const expired = yield* request("POST", "/v1/email/send", { key: old, json: mail })
      assertRefused(expired, 401, "expired_api_key")
      const record = yield* recordOf(expired, key)
      assert.deepInclude(record, { status: 401, key_id: id, key_prefix: old.slice(0, 12), route: "/v1/email/send" })
      const unknown = yield* request("POST", "/v1/email/send", { key: `${key.slice(0, -1)}x`, json: mail })
      assert.strictEqual(unknown.status, 401)
      const last = yield* request("POST", "/v1/email/send", { key, json: {} })
      yield* recordOf(last, key)
      assert.deepStrictEqual(yield* sql`select from request_log where id = ${idOf(unknown)}::uuid`, [])
    }))

  it.effect("writes a key in a path without its secret part", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const answer = yield* request("GET", `/v1/api-keys/${key}`, { key })
      assert.strictEqual(answer.status, 404)
      assert.strictEqual((yield* recordOf(answer, key)).path, `/v1/api-keys/${key.slice(0, 11)}…`)
    }))

  it.effect("stores an error that is cut within an emoji", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      for (const length of [490, 491]) {
        const name = `${"x".repeat(length)}😀😀😀😀😀😀`
        const answer = yield* request("POST", "/v1/email/send", {
          key,
          json: { ...Object(mail), metadata: { [name]: 7 } }
        })
        assert.strictEqual(answer.status, 422, answer.text)
        assert.strictEqual((yield* recordOf(answer, key)).error.type, "validation_error")
      }
    }))
})
