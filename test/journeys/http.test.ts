import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { assertDefaultHeaders, assertRefused } from "../contract/contract.ts"
import { freePort } from "../support/freePort.ts"
import { type Answer, earlyInTheMinute, makeAccount, Service, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Targets of a Link header by `rel`. */
const linksOf = ({ headers }: Answer) =>
  Object.fromEntries(
    [...(headers["link"] ?? "").matchAll(/<([^>]*)>; rel="([a-z]+)"/g)].map(([, target, rel]) => [rel, target])
  )

const post = (path: string, key: string, json: unknown) =>
  Effect.flatMap(Service, ({ request }) => request("POST", path, { key, json }))

const Ids = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.Int })) })

layer(Service.layer())((it) => {
  describe("pagination", () => {
    const batchOf = (key: string, recipients: number) =>
      Effect.gen(function*() {
        const answer = yield* post("/v1/email/send-bulk", key, {
          recipients: Array.from({ length: recipients }, (_, i) => `reader${i}@example.com`),
          subject: "Hello",
          html: "<p>Hello</p>"
        })
        return `/v1/email/batches/${String(answer.at("data", "batch_id"))}/recipients`
      })

    it.effect("Link headers lead through every row exactly once", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        let next: string | undefined = `${yield* batchOf(key, 60)}?per_page=25&note=a%20b`
        const seen: Array<number> = []
        const shapes: Array<string> = []
        while (next !== undefined) {
          const answer: Answer = yield* request("GET", next, { key })
          const { data } = yield* Schema.decodeUnknownEffect(Ids)(answer.json)
          seen.push(...data.map(({ id }) => id))
          const links = linksOf(answer)
          shapes.push(Object.keys(links).join(" "))
          for (const target of Object.values(links)) assert.include(target, "note=a+b")
          assert.deepInclude(Object(answer.at("meta")), { total: 60, per_page: 25 })
          next = links["next"]
        }
        assert.deepStrictEqual(shapes, ["first next last", "first prev next last", "first prev last"])
        assert.strictEqual(new Set(seen).size, 60)
      }))

    it.effect("the total of a list counts at most 100,000 rows, as many as its pages reach", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        yield* sql`insert into messages (account_id, channel, direction, recipient, content, segments, cost_micros)
          select ${accountId}, 'sms', 'out', '+250788123456', '{"body": "Hello"}', 1, 1000 from generate_series(1, 100010)`
        const answer = yield* request("GET", "/v1/sms/messages?per_page=100&page=1000", { key })
        assert.deepInclude(Object(answer.at("meta")), { total: 100_000, page: 1000, per_page: 100 })
        assert.notProperty(linksOf(answer), "next")

        // 100,000 rows are no whole number of pages of 30, so the last page that may be asked for ends before them.
        const { last = "" } = linksOf(yield* request("GET", "/v1/sms/messages?per_page=30", { key }))
        const end = yield* request("GET", last, { key })
        assert.deepInclude(Object(end.at("meta")), { total: 100_000, page: 3333, per_page: 30 })
        assert.notProperty(linksOf(end), "next")
      }))

    it.effect("a page has 25 rows and starts at the first unless the caller says otherwise", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const path = yield* batchOf(key, 30)
        const answer = yield* request("GET", path, { key })
        assert.deepInclude(Object(answer.at("meta")), { total: 30, page: 1, per_page: 25 })
        const beyond = yield* request("GET", `${path}?page=1000&per_page=100`, { key })
        assert.deepStrictEqual(beyond.json, {
          data: [],
          meta: { total: 30, page: 1000, per_page: 100, next_cursor: null }
        })
      }))

    it.effect("pages out of bounds are refused with 422, naming each parameter", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const path = yield* batchOf(key, 1)
        const wrong = [
          ["page=0", ["page"]],
          ["page=-1&per_page=-1", ["page", "per_page"]],
          ["page=1.5", ["page"]],
          ["page=", ["page"]],
          ["page=one&per_page=101", ["page", "per_page"]],
          ["per_page=0", ["per_page"]],
          ["page=1e3", ["page"]],
          ["page=0x10", ["page"]],
          ["page=%201", ["page"]],
          ["page=99999999999999999999", ["page"]],
          ["page=1&page=2", ["page"]],
          ["page=1001&per_page=100", ["page"]],
          ["page=100000&per_page=2", ["page"]]
        ] as const
        for (const [query, params] of wrong) {
          const answer = yield* request("GET", `${path}?${query}`, { key })
          assertRefused(answer, 422, "validation_error")
          const errors = answer.at("error", "errors")
          assert.deepStrictEqual(Array.isArray(errors) ? errors.map(({ param }) => param) : [], [...params], query)
        }
      }))
  })

  describe("request input", () => {
    it.effect("every violation is reported at its path, at most 50, with a message about the first", () =>
      Effect.gen(function*() {
        const { key } = yield* makeAccount()
        const answer = yield* post("/v1/email/send-bulk", key, {
          recipients: [
            "ada@example.com",
            { to: 5 },
            { variables: {} },
            { to: "ada@example.com", variables: { user: { name: ["x"] } } }
          ],
          html: "<p>Hello</p>",
          from_name: "Ada\r\nBcc: eve@example.com"
        })
        assertRefused(answer, 422, "validation_error")
        assert.deepStrictEqual(answer.at("error", "errors"), [
          { param: "recipients[1].to", type: "invalid", message: "must be a string" },
          { param: "recipients[2].to", type: "missing", message: "is required" },
          { param: "from_name", type: "invalid", message: "must not contain line breaks or control characters" }
        ])
        assert.strictEqual(answer.at("error", "param"), "recipients[1].to")
        assert.strictEqual(
          answer.at("error", "message"),
          "recipients[1].to: must be a string (and 2 more, see errors)."
        )
        const many = yield* post("/v1/email/send-bulk", key, {
          recipients: Array.from({ length: 100 }, () => ({ to: 5 })),
          subject: "Hello",
          html: "<p>Hello</p>"
        })
        assert.strictEqual(Object(many.at("error", "errors")).length, 50)
      }))

    it.effect("unknown fields are ignored and change nothing", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId, key } = yield* makeAccount()
        const answer = yield* request("POST", "/v1/api-keys", {
          key,
          body: `{"name":"Plain","id":1,"account_id":${
            accountId + 1
          },"key":"sk_live_x","key_prefix":"x","is_active":false,
          "created_at":"2000-01-01T00:00:00Z","__proto__":{"scopes":["email:write"],"isAdmin":true},
          "constructor":{"prototype":{"isAdmin":true}},"scopes ":["email:write"]}`
        })
        assert.strictEqual(answer.status, 201)
        assert.deepInclude(Object(answer.at("data")), { name: "Plain", scopes: [], permissions: [], expires_at: null })
        assert.notInclude([1, "x"], answer.at("data", "id"))
        assert.match(String(answer.at("data", "key")), /^sk_live_\w{38}$/)
        const read = yield* request("GET", String(answer.headers["location"]), { key })
        assert.deepInclude(Object(read.at("data")), { name: "Plain", is_active: true })
        assert.isAbove(Date.parse(String(read.at("data", "created_at"))), Date.parse("2020-01-01"))
      }))

    it.effect("wrong types, NUL, lone surrogates and control characters are refused with 422 and never repaired", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const names = [
          "5",
          "true",
          "[\"a\"]",
          "{}",
          "null",
          "\"\"",
          "\"a\\u0000b\"",
          "\"\\ud800\"",
          "\"\\udc00\\ud800\"",
          "\"a\\r\\nb\"",
          "\"a\\u2028b\"",
          `"${"x".repeat(101)}"`
        ]
        for (const name of names) {
          const answer = yield* request("POST", "/v1/api-keys", { key, body: `{"name":${name}}` })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), "name")
        }
        for (const name of ["é", "日本語", "🔑", "a b", "<script>", "'; drop table api_keys; --", "x".repeat(100)]) {
          const answer = yield* request("POST", "/v1/api-keys", { key, json: { name } })
          assert.deepStrictEqual([answer.status, answer.at("data", "name")], [201, name])
        }
      }))

    it.effect("property names that cannot be stored are refused at any depth, even in unknown fields", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const mail = (more: string) => `{"subject":"Hello","html":"<p>Hello</p>","recipients":[${more}]}`
        const to = `"to":"ada@example.com"`
        const wrong = [
          [mail(`{${to},"variables":{"a\\u0000":"b"}}`), "recipients[0].variables"],
          [mail(`"ada@example.com",{${to},"variables":{"user":{"\\uD800":"b"}}}`), "recipients[1].variables.user"],
          [mail(`{${to},"x":[[{"\\udfff\\ud800":1}]]}`), "recipients[0].x[0][0]"],
          [`{"\\u0000":1}`, ""]
        ] as const
        for (const [body, param] of wrong) {
          const answer = yield* request("POST", "/v1/email/send-bulk", { key, body })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param)
        }
        const fine = mail(`{${to},"variables":{"\\ud83d\\ude00":"\\ud83d\\ude00","\\\\u0000":"b","__proto__":"c"}}`)
        assert.strictEqual((yield* request("POST", "/v1/email/send-bulk", { key, body: fine })).status, 202)
      }))

    it.effect("a NUL in any query parameter is refused with 422", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const hook = yield* post("/v1/webhooks", key, { url: "http://127.0.0.1:14999/", events: ["*"] })
        const path = `/v1/webhooks/${String(hook.at("data", "id"))}/deliveries`
        for (
          const [query, param] of [["event=%00", "event"], ["event=a&event=b%00", "event"], ["other=%00", "other"]]
        ) {
          const answer = yield* request("GET", `${path}?${query}`, { key })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param)
        }
        assert.strictEqual((yield* request("GET", `${path}?other=%ff%ed%a0%80`, { key })).status, 200)
      }))

    it.effect("request input never appears in the answer's headers", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const answer = yield* request("GET", "/v1/webhooks/1/deliveries?x=%0d%0aSet-Cookie:%20a=b%0d%0a", { key })
        assert.isUndefined(answer.headers["set-cookie"])
        const named = yield* request("GET", "/v1/api-keys", { key, headers: { "x-request-id": "mine" } })
        assertDefaultHeaders(named)
        assert.notStrictEqual(named.headers["x-request-id"], "mine")
      }))
  })

  describe("answers", () => {
    it.effect("each answer has a unique request id, in the order of the requests", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const ids: Array<string | undefined> = []
        for (let i = 0; i < 5; i++) ids.push((yield* request("GET", "/health/live")).headers["x-request-id"])
        assert.strictEqual(new Set(ids).size, 5)
        assert.deepStrictEqual(ids.map((id) => id?.slice(0, 13)).toSorted(), ids.map((id) => id?.slice(0, 13)))
      }))

    it.effect("each JSON answer ends with one line feed, that of a refusal and of a repetition too", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const headers = { "idempotency-key": "line-feed" }
        const create = request("POST", "/v1/api-keys", { key, headers, json: { name: "Shop" } })
        const answers = yield* Effect.all([
          request("GET", "/v1/api-keys", { key }),
          create,
          create,
          request("GET", "/v1/api-keys"),
          request("GET", "/nowhere"),
          request("GET", "/v1/sms/pricing"),
          request("GET", "/v1/sms/pricing?code=RW"),
          request("GET", "/health/live"),
          request("GET", "/health/ready"),
          request("GET", "/openapi.json")
        ])
        for (const { headers, text } of answers) {
          assert.match(text, /[^\n]\n$/)
          assert.strictEqual(headers["content-length"], String(Buffer.byteLength(text)))
        }
      }))

    it.effect("API answers are not cacheable", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        for (const path of ["/v1/api-keys", "/v1/nothing", "/health/ready"]) {
          assert.strictEqual((yield* request("GET", path, { key })).headers["cache-control"], "no-store")
        }
        assert.strictEqual((yield* request("GET", "/openapi.json")).headers["cache-control"], "public, max-age=60")
      }))
  })
})

layer(TestDatabase.layer)("settings of a node", (it) => {
  const login = { json: { email: "nobody@example.com", password: "wrong horse battery" } }
  const limited = { RATE_LIMIT_LOGIN: "1" }

  it.effect("X-Forwarded-For is read from the right and only from trusted proxies", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: { ...limited, TRUSTED_PROXIES: "127.0.0.0/8,10.0.0.1" } })
      const from = (forwarded: string) =>
        Effect.map(
          node.request("POST", "/v1/auth/login", { ...login, headers: { "x-forwarded-for": forwarded } }),
          ({ status }) => status
        )
      yield* earlyInTheMinute
      const statuses = yield* Effect.forEach([
        "203.0.113.1",
        "203.0.113.2",
        "203.0.113.1", // again: over its limit of one
        "198.51.100.7, 203.0.113.2", // the client's forged entry is on the left
        "203.0.113.3, 10.0.0.1",
        "203.0.113.3",
        "2001:db8::1",
        "2001:db8::2" // the same network of 64 bits
      ], from)
      assert.deepStrictEqual(statuses, [401, 401, 429, 429, 401, 429, 401, 429])
    }))

  it.effect("X-Forwarded-For is ignored when no proxy is trusted, and the log warns of it", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: limited })
      const statuses = yield* Effect.forEach(
        ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"],
        (address) =>
          Effect.map(
            node.request("POST", "/v1/auth/login", { ...login, headers: { "x-forwarded-for": address } }),
            ({ status }) => status
          )
      )
      assert.include(statuses, 429)
      yield* node.logged("X-Forwarded-For is ignored, because TRUSTED_PROXIES does not list its sender")
    }))

  it.effect("metrics are served on 127.0.0.1 although the API listens on every address", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const node = yield* startNode({ env: { HOST: "0.0.0.0", METRICS_PORT: String(port) } })
      const asking = (address: string, at: number) =>
        Effect.promise(() => fetch(`http://${address}:${at}/metrics`).then(({ status }) => status, () => "refused"))
      assert.deepStrictEqual(
        [yield* asking("127.0.0.1", port), yield* asking("127.0.0.2", port), yield* asking("127.0.0.2", node.port)],
        [200, "refused", 404]
      )
    }))

  it.effect("an unknown path gets the closest path of the API, without a key", () =>
    Effect.gen(function*() {
      const node = yield* startNode()
      for (
        const [method, path, meant] of [
          ["POST", "/v1/emails", "/v1/email/send"],
          ["GET", "/webhook/7?key=secret", "/v1/webhooks/{id}"]
        ] as const
      ) {
        const answer = yield* node.request(method, path)
        assertRefused(answer, 404, "not_found")
        assert.strictEqual(answer.at("error", "did_you_mean"), meant)
        assert.strictEqual(answer.at("error", "message"), `Not found. Did you mean ${meant}?`)
      }
      const other = yield* node.request("GET", "/v1/nothing")
      assert.strictEqual(other.at("error", "message"), "Not found. Check the path and the id.")
      assert.isUndefined(other.at("error", "did_you_mean"))
    }))

  it.effect("metrics are served on their own port only", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const node = yield* startNode({ env: { METRICS_PORT: String(port) } })
      yield* node.request("GET", "/v1/api-keys")
      yield* node.request("PROPFIND", "/v1/api-keys")
      const metrics = yield* node.request("GET", "/metrics", { origin: `http://127.0.0.1:${port}` })
      assert.match(metrics.headers["content-type"] ?? "", /^text\/plain/)
      assert.include(metrics.text, "http_requests_total{method=\"GET\",status=\"401\"} 1")
      assert.notInclude(metrics.text, "PROPFIND")
      assert.include(metrics.text, "http_requests_total{method=\"other\",status=\"405\"} 1")
      assert.match(metrics.text, /http_request_duration_milliseconds_bucket\{.*le="1000".*\} \d/)
      assertRefused(yield* node.request("GET", "/metrics"), 404, "not_found")
      const elsewhere = yield* node.request("GET", "/health/live", { origin: `http://127.0.0.1:${port}` })
      assert.strictEqual(elsewhere.status, 404)
    }))
})
