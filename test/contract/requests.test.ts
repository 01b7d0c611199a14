import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { BodyLimit } from "../../src/platform/http/RequestRules.ts"
import { makeAccount, makeKey, Service } from "../support/Service.ts"
import { assertDefaultHeaders, assertRefused, endpoints, fill, guarded, paths, posting } from "./contract.ts"
import { connectedSession, queries, rowFor, samples } from "./samples.ts"

/** Paths outside the contract. */
const plainPaths = [
  "/openapi.json",
  "/docs",
  "/docs/guides",
  "/llms.txt",
  "/health/live",
  "/health/ready",
  "/u/style.css"
]

/** An id that passes the path of an endpoint: the row need not exist. */
const idFor = (path: string) => {
  const [, channel] = /^\/v1\/(\w+)\/batches\//.exec(path) ?? []
  if (channel !== undefined) return `${channel}_batch_01ARZ3NDEKTSV4RRFFQ69G5FAV`
  return path.includes(":failover_id") ? "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV" : 1
}

/** Endpoints whose data is at WhatsApp, which does not know a test's row. */
const storedAtWhatsApp: ReadonlySet<string> = new Set(["/v1/whatsapp/messages/:id/media"])

const methodsOf = (path: string) =>
  new Set(endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method))

/** Header names without those of the connection. */
const lasting = (headers: Readonly<Record<string, string>>) =>
  Object.keys(headers).filter((name) => name !== "connection" && name !== "keep-alive")

const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(Schema.String, Schema.Struct({ requestBody: Schema.optionalKey(Schema.Unknown) }))
  )
})

/** Paths that only test keys call. */
const ofTests = new Set(guarded.filter(({ rule }) => rule.mode === "test").map(({ path }) => path))

/** A new account. Returns its key for a path. */
const makeKeys = Effect.gen(function*() {
  const { accountId, key } = yield* makeAccount()
  const { key: testKey } = yield* makeKey(accountId, { mode: "test" })
  return (path: string) => ofTests.has(path) ? testKey : key
})

layer(Service.layer())((it) => {
  describe("every path", () => {
    for (const path of paths) {
      const at = fill(path, 1)
      const allowed = [...methodsOf(path), ...(methodsOf(path).has("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted()
      const allowOf = (allow: string | undefined) => allow?.split(", ").toSorted()

      it.effect(`${path} answers OPTIONS with 204 and its methods, without a key`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const answer = yield* request("OPTIONS", at)
          assert.deepStrictEqual([answer.status, answer.text], [204, ""])
          assert.deepStrictEqual(allowOf(answer.headers["allow"]), allowed)
          assert.isUndefined(answer.headers["access-control-allow-origin"])
          assertDefaultHeaders(answer)
        }))

      it.effect(`${path} answers an unsupported method with 405 and the allowed ones`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const all = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"]
          for (const method of all.filter((other) => !allowed.includes(other))) {
            const answer = yield* request(method, at)
            assert.deepStrictEqual(allowOf(answer.headers["allow"]), allowed)
            if (method === "HEAD") assert.deepStrictEqual([answer.status, answer.text], [405, ""])
            else assertRefused(answer, 405, "method_not_allowed")
          }
        }))
    }

    for (const { name, path } of endpoints.filter(({ method }) => method === "GET")) {
      it.effect(`${name} answers HEAD like GET, without the body`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const key = (yield* makeKeys)(path)
          const ids = yield* rowFor(path)?.(request, key) ?? Effect.succeed([])
          const at = `${fill(path, ...ids)}${queries[path] ?? ""}`
          const head = yield* request("HEAD", at, { key })
          const get = yield* request("GET", at, { key })
          const status = storedAtWhatsApp.has(path) ? 410 : 200
          assert.deepStrictEqual([head.status, head.text], [status, ""])
          assert.strictEqual(get.status, status)
          assert.sameMembers(lasting(head.headers), lasting(get.headers))
          assert.strictEqual(head.headers["content-type"], get.headers["content-type"])
          assertDefaultHeaders(head)
          assertDefaultHeaders(get)
        }))
    }

    for (const path of plainPaths) {
      it.effect(`${path} answers HEAD like GET, without the body`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const head = yield* request("HEAD", path)
          const get = yield* request("GET", path)
          assert.deepStrictEqual([head.status, get.status, head.text], [200, 200, ""])
          assert.strictEqual(head.headers["content-length"], String(Buffer.byteLength(get.text)))
          assertDefaultHeaders(get)
        }))
    }
  })

  /** Names of the endpoint's query parameters. */
  const queryOf = ({ query }: HttpApiEndpoint.Top): ReadonlyArray<string> =>
    query === undefined || query.ast._tag !== "Objects"
      ? []
      : query.ast.propertySignatures.map(({ name }) => String(name))

  describe("invalid queries", () => {
    const dated = endpoints.filter(({ declaration }) => queryOf(declaration).includes("from_date"))

    it("every list that is filtered by time takes dates", () => {
      assert.includeMembers(dated.map(({ path }) => path), [
        "/v1/account/usage",
        "/v1/email/messages",
        "/v1/sms/messages",
        "/v1/whatsapp/messages",
        "/v1/webhooks/:id/deliveries"
      ])
    })

    for (const { declaration, name, path } of dated) {
      it.effect(`${name} reports each invalid date with its reason, beside all other invalid parameters`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const { key } = yield* makeAccount()
          const others = queryOf(declaration).filter((param) => ["page", "per_page", "granularity"].includes(param))
          const wrong = ["from_date", "to_date", ...others]
          for (const date of ["nope", "2030-02-30T00:00:00Z", "2030-01-31T09:00:00", ""]) {
            const query = wrong.map((param) => `${param}=${date}`).join("&")
            const answer = yield* request("GET", `${fill(path, 1)}?${query}`, { key })
            assertRefused(answer, 422, "validation_error")
            const errors = answer.at("error", "errors") as ReadonlyArray<
              { readonly param: string; readonly message: string }
            >
            assert.sameMembers([...new Set(errors.map(({ param }) => param))], wrong, answer.text)
            for (const param of ["from_date", "to_date"]) {
              const reasons = errors.filter((error) => error.param === param).map(({ message }) => message)
              assert.lengthOf(reasons, 1, answer.text)
              assert.match(reasons.join(), /^must be .* such as 2030-01-31/, answer.text)
            }
          }
        }))
    }
  })

  describe("invalid bodies", () => {
    for (const { declaration, method, name, path } of posting) {
      const limit = Context.get(declaration.annotations, BodyLimit).bytes

      it.effect(`${name} refuses a body of more than ${limit} bytes with 413 before it reads it`, () =>
        Effect.gen(function*() {
          const { raw } = yield* Service
          const key = (yield* makeKeys)(path)
          const answer = yield* raw([
            `${method} ${fill(path, 1)} HTTP/1.1`,
            "Host: localhost",
            "Connection: close",
            `Authorization: Bearer ${key}`,
            "Content-Type: application/json",
            `Content-Length: ${limit + 1}`,
            "",
            "{"
          ].join("\r\n"))
          assert.match(answer, /^HTTP\/1\.1 413 /)
          assert.include(answer, `"type":"payload_too_large","code":4130`)
          assert.include(answer, `"limit_bytes":${limit}`)
        }))

      it.effect(`${name} refuses a body that is not plain JSON in UTF-8 with 415`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const key = (yield* makeKeys)(path)
          const kinds = [
            { "content-type": "text/plain" },
            { "content-type": "application/x-www-form-urlencoded" },
            { "content-type": "multipart/form-data; boundary=x" },
            { "content-type": "application/json; charset=iso-8859-1" },
            { "content-type": "application/merge-patch+json" },
            { "content-type": "application/json", "content-encoding": "gzip" },
            { "content-type": "" }
          ]
          for (const headers of kinds) {
            assertRefused(
              yield* request(method, fill(path, 1), { key, body: "{}", headers }),
              415,
              "unsupported_media_type"
            )
          }
        }))
    }

    it.effect("malformed, truncated, non-UTF-8 or too deeply nested JSON is refused with 400", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const keyFor = yield* makeKeys
        const document = yield* Schema.decodeUnknownEffect(Document)((yield* request("GET", "/openapi.json")).json)
        const bodied = posting.filter(({ method, path }) =>
          document.paths[path.replaceAll(/:([a-z_]+)/g, "{$1}")]?.[method.toLowerCase()]?.requestBody !== undefined
        )
        assert.isNotEmpty(bodied)
        const deep = `${`{"a":`.repeat(33)}1${"}".repeat(33)}`
        const latin = Buffer.from(`{"name":"\xe9"}`, "latin1")
        for (const { method, path } of bodied) {
          for (const body of ["{", "{\"a\":1", "{'a':1}", "{\"a\":1}}", "undefined", "\0", deep, latin]) {
            assertRefused(
              yield* request(method, fill(path, path.includes(":failover_id") ? "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV" : 1), {
                key: keyFor(path),
                body
              }),
              400,
              "invalid_json"
            )
          }
        }
      }))

    it.effect("a body with more values than its endpoint allows is refused with 422 before any value is checked", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const keyFor = yield* makeKeys
        const lists = (sizes: ReadonlyArray<number>) =>
          `{"recipients":[${sizes.map((size) => `[${"1,".repeat(size - 1)}1]`).join()}]}`
        for (const { declaration, method, path } of posting) {
          const { values } = Context.get(declaration.annotations, BodyLimit)
          // The object, the outer list, and 501 values for each inner list.
          const fitting = Math.floor((values - 2) / 501)
          const body = (rest: number) => lists([...Array.from({ length: fitting }, () => 500), rest])
          const rest = values - 2 - fitting * 501
          const answer = yield* request(method, fill(path, 1), { key: keyFor(path), body: body(rest) })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "message"), `The body has more than ${values} values.`)
          const fits = yield* request(method, fill(path, 1), { key: keyFor(path), body: body(rest - 1) })
          assert.notInclude(fits.text, "has more than")
        }
      }))

    it.effect("a list or an object that is longer than any of the API is refused with 422, naming its field", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const keyFor = yield* makeKeys
        const names = (count: number) =>
          Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 1]))
        const elements = (count: number) => Array.from({ length: count }, () => "q")
        const long = [
          ["to", { to: elements(501) }, "must have at most 500 elements"],
          ["a.b", { a: { b: names(1001) } }, "must have at most 1000 names"]
        ] as const
        for (const { method, path } of posting) {
          for (const [param, json, message] of long) {
            const answer = yield* request(method, fill(path, 1), { key: keyFor(path), json })
            assertRefused(answer, 422, "validation_error")
            assert.deepStrictEqual(answer.at("error", "errors"), [{ param, type: "invalid", message }])
          }
          const fits = yield* request(method, fill(path, 1), {
            key: keyFor(path),
            json: { to: elements(500), a: { b: names(1000) } }
          })
          assert.notInclude(fits.text, "must have at most")
          const torn = yield* request(method, fill(path, 1), {
            key: keyFor(path),
            body: JSON.stringify({ to: elements(501) }).slice(0, -1)
          })
          assertRefused(torn, 400, "invalid_json")
        }
      }))

    it.effect("a body that is not an object is refused with 422 and a message that says so", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        for (const name of Object.keys(samples)) {
          const [method = "", path = ""] = name.split(" ")
          const place = fill(path, idFor(path))
          for (const body of ["null", "[]", "1", "\"x\"", "true", ""]) {
            const answer = yield* request(method, place, { key, body })
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "message"), "The body must be an object.")
          }
        }
      }))

    // The content of a WhatsApp message is checked after its session, and a sample's session does not exist.
    for (
      const [name, sample] of Object.entries(samples).filter(([name]) => !name.startsWith("POST /v1/whatsapp/send"))
    ) {
      const [method = "", path = ""] = name.split(" ")
      for (const field of ["name", "subject", "content"].filter((field) => Object.hasOwn(Object(sample), field))) {
        it.effect(`${name} refuses a blank ${field} with 422 and that one reason`, () =>
          Effect.gen(function*() {
            const { request } = yield* Service
            const { key } = yield* makeAccount()
            const answer = yield* request(method, fill(path, 1), {
              key,
              json: { ...Object(sample), [field]: " \u00a0 " }
            })
            assertRefused(answer, 422, "validation_error")
            const errors = answer.at("error", "errors") as ReadonlyArray<unknown>
            assert.lengthOf(errors, 1, answer.text)
            assert.match(String(answer.at("error", "param")), new RegExp(`^${field}`), answer.text)
            assert.strictEqual(answer.at("error", "errors", 0, "message"), "must not be blank")
          }))
      }
    }

    it.effect("every endpoint with required fields refuses an empty object with 422", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const accepting: Array<string> = []
        for (const { method, name, path } of posting) {
          const answer = yield* request(method, fill(path, 1), { key, json: {} })
          if (answer.status !== 422) accepting.push(name)
          else {
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), answer.at("error", "errors", 0, "param"))
            assert.strictEqual(answer.at("error", "errors", 0, "type"), "missing")
          }
        }
        // An endpoint without a sample requires no fields, so it accepts an empty object.
        assert.sameMembers(accepting, posting.map(({ name }) => name).filter((name) => samples[name] === undefined))
      }))
  })

  describe("requests with an Idempotency-Key", () => {
    for (const { name, path } of guarded.filter(({ method }) => method === "POST")) {
      it.effect(`${name} waits for nothing but its own statements while it holds a connection`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const { key } = yield* makeAccount()
          const session_id = yield* connectedSession(request, key)
          const ids = path.includes(":") ? yield* rowFor(path)?.(request, key) ?? Effect.succeed([1]) : []
          const sample = samples[name] ?? {}
          const json = Object.hasOwn(Object(sample), "session_id") ? { ...Object(sample), session_id } : sample
          const answer = yield* request("POST", fill(path, ...ids), { key, json, headers: { "idempotency-key": "a" } })
          assert.notStrictEqual(answer.status, 500, answer.text)
        }))
    }
  })

  describe("requests that reach no endpoint", () => {
    it.effect("unknown routes get 404 with the documented body, with and without a key", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        for (const path of ["/v1", "/v1/nothing", "/v2/api-keys", "/v1/api-keys/1/2", "/.env"]) {
          for (const method of ["GET", "POST", "DELETE", "OPTIONS", "PROPFIND"]) {
            assertRefused(yield* request(method, path), 404, "not_found")
          }
          assertRefused(yield* request("GET", path, { key }), 404, "not_found")
          assert.deepInclude(yield* request("HEAD", path), { status: 404, text: "" })
        }
      }))

    it.effect("requests that Node itself refuses get the documented body", () =>
      Effect.gen(function*() {
        const { raw } = yield* Service
        const refused = [
          ["NONSENSE\r\n\r\n", 400],
          ["GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
          ["GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", 400],
          ["POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400],
          ["POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
          ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
          ["CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
          ["GET / HTTP/1.1\r\nHost: x\r\nExpect: the-worst\r\n\r\n", 417],
          [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(16 * 1024)}\r\n\r\n`, 431]
        ] as const
        for (const [bytes, status] of refused) {
          const text = yield* raw(bytes)
          const [head = "", body = ""] = text.split("\r\n\r\n")
          const headers = Object.fromEntries(
            head.split("\r\n").slice(1).map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]])
          )
          const json: unknown = JSON.parse(body)
          const at = (...path: ReadonlyArray<string | number>) =>
            path.reduce<unknown>((value, key) => Object(value)[key], json)
          assertRefused({ status: Number(head.slice(9, 12)), headers, text: body, json, at }, status, "bad_request")
        }
      }))

    it.effect("a chunked body that exceeds the limit while it arrives gets 413", () =>
      Effect.gen(function*() {
        const { raw } = yield* Service
        const { key } = yield* makeAccount()
        const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`
        const head = `POST /v1/api-keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`
          + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert.match(yield* raw(`${head}${chunk.repeat(17)}0\r\n\r\n`), /^HTTP\/1\.1 413 [^]*"code":4130/)
      }))
  })
})
