import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import * as NodeFs from "node:fs"
import * as OpenApiFile from "../../scripts/openapi.ts"
import { contractOf } from "../../scripts/sdk/generate.ts"
import { MessageType } from "../../src/channels/whatsapp/content/MessageContent.ts"
import { eventBody, exampleBody } from "../../src/events/EventData.ts"
import { eventNames, type Topic, topics } from "../../src/events/EventNames.ts"
import { generate as generateSecret, sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { endpoints } from "./contract.ts"
import { unnamedIn } from "./document.ts"

const Operation = Schema.Struct({
  operationId: Schema.String,
  summary: Schema.NonEmptyString,
  description: Schema.NonEmptyString,
  tags: Schema.NonEmptyArray(Schema.String),
  security: Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String, schema: Schema.Unknown })),
  requestBody: Schema.optionalKey(Schema.Struct({ required: Schema.Boolean })),
  responses: Schema.Record(
    Schema.String,
    Schema.Struct({
      headers: Schema.Record(Schema.String, Schema.Struct({ $ref: Schema.String })).pipe(Schema.optionalKey),
      content: Schema.Record(Schema.String, Schema.Unknown).pipe(Schema.optionalKey)
    })
  )
})

const Sent = Schema.Struct({
  operationId: Schema.String,
  description: Schema.NonEmptyString,
  security: Schema.Array(Schema.Never),
  parameters: Schema.Array(
    Schema.Struct({ name: Schema.String, in: Schema.Literal("header"), required: Schema.Boolean })
  ),
  requestBody: Schema.Struct({
    required: Schema.Literal(true),
    content: Schema.Struct({
      "application/json": Schema.Struct({
        schema: Schema.Struct({ type: Schema.Literal("object"), required: Schema.Array(Schema.String) }),
        examples: Schema.Record(Schema.String, Schema.Struct({ value: Schema.Unknown }))
      })
    })
  }),
  responses: Schema.Record(Schema.String, Schema.Struct({ description: Schema.NonEmptyString }))
})

const Document = Schema.Struct({
  openapi: Schema.Literal("3.1.0"),
  info: Schema.Struct({ title: Schema.String, version: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  servers: Schema.Tuple([Schema.Struct({ url: Schema.Literal("/") })]),
  tags: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.NonEmptyString })),
  webhooks: Schema.Record(Schema.String, Schema.Struct({ post: Sent })),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, Schema.Unknown),
    headers: Schema.Record(
      Schema.String,
      Schema.Struct({ description: Schema.NonEmptyString, schema: Schema.Unknown })
    ),
    securitySchemes: Schema.Record(Schema.String, Schema.Unknown)
  })
})

const document = Schema.decodeUnknownSync(Document)(JSON.parse(OpenApiFile.text))

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation }))
)

const sent = Object.entries(document.webhooks).map(([event, { post }]) => [event, post] as const)

/** Header names of a signed attempt with all optional parts, without the general HTTP headers. */
const signed = (more: { readonly rotated: boolean }) =>
  Object.keys(sign({
    event: "email.sent",
    event_id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
    delivery_id: 7,
    attempt: 1,
    timestamp: 1,
    body: Buffer.from("{}"),
    key: signingKey(generateSecret()),
    ...(more.rotated && { previous_key: signingKey(generateSecret()), is_test: true })
  })).filter((name) => name !== "content-type" && name !== "user-agent")

describe("OpenAPI webhooks", () => {
  it("the documented webhooks are exactly the published events", () => {
    assert.deepStrictEqual(sent.map(([event]) => event), [...eventNames])
  })

  it("each webhook names the signed headers and which of them are required", () => {
    for (const [event, { parameters }] of sent) {
      assert.sameMembers(parameters.map(({ name }) => name), signed({ rotated: true }), event)
      const always = parameters.filter(({ required }) => required).map(({ name }) => name)
      assert.sameMembers(always, signed({ rotated: false }), event)
    }
  })

  it("each webhook has an example for every channel that its schema accepts", () => {
    for (const [event, { requestBody }] of sent) {
      const { examples, schema } = requestBody.content["application/json"]
      assert.deepStrictEqual(schema.required, ["id", "event", "mode", "timestamp", "data"])
      const own: ReadonlyArray<Topic> = topics.filter((topic) => topic.event === event)
      assert.sameMembers(Object.keys(examples), own.map(({ channel }) => channel ?? "example"))
      for (const topic of own) {
        const { value } = examples[topic.channel ?? "example"] ?? {}
        assert.deepStrictEqual(Schema.decodeUnknownSync(eventBody(topic.event))(value), exampleBody(topic))
      }
    }
  })

  it("each webhook says what the receiver's status means", () => {
    for (const [event, { responses }] of sent) {
      assert.deepStrictEqual(Object.keys(responses).toSorted(), ["2XX", "3XX", "default"], event)
      assert.include(responses["default"]?.description, "There are up to 4 attempts, 5, 30, 120 seconds after the end")
    }
  })
})

describe("OpenAPI document", () => {
  it("only the file of a WhatsApp message and the source of an email are no JSON, and for them the SDKs return bytes", () => {
    const notJson = operations.flatMap(({ name, operation }) =>
      Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content))
        .filter((type) => type !== "application/json").map((type) => `${name} ${type}`)
    )
    const media = "GET /v1/whatsapp/messages/{id}/media"
    const source = "GET /v1/email/messages/{id}/source"
    assert.sameMembers(notJson, [`${media} application/octet-stream`, `${source} message/rfc822`])
    const files = contractOf(OpenApiFile.text).operations.filter(({ result }) => result.kind === "blob")
    assert.sameMembers(files.map(({ method, path }) => `${method} ${path}`), [media, source])
  })

  it("numbers in paths and queries have an integer schema", () => {
    const numbers = operations.flatMap(({ operation }) => operation.parameters)
      .filter(({ name }) => ["id", "delivery_id", "page", "per_page"].includes(name))
    assert.isNotEmpty(numbers)
    for (const { schema } of numbers) assert.deepInclude(schema, { type: "integer", minimum: 1 })
  })

  it("page and per_page document their maximum and default", () => {
    const asked = operations.flatMap(({ operation }) => operation.parameters)
    const ranges = [["page", { maximum: 100_000, default: 1 }], ["per_page", { maximum: 100, default: 25 }]] as const
    for (const [named, range] of ranges) {
      const found = asked.filter(({ name }) => name === named)
      assert.isNotEmpty(found)
      for (const { schema } of found) assert.deepInclude(schema, range)
    }
  })

  it("batches of every channel document the same statuses", () => {
    const found = ["email", "sms", "whatsapp"].map((channel) =>
      operations.find(({ name }) => name === `GET /v1/${channel}/batches`)?.operation.parameters
        .find(({ name }) => name === "status")?.schema
    )
    const status = { type: "string", enum: ["scheduled", "queued", "processing", "completed", "failed", "canceled"] }
    assert.deepStrictEqual(found, [status, status, status])
  })

  it("Idempotency-Key is documented on every authenticated POST and nowhere else", () => {
    for (const { name, operation } of operations) {
      const named = operation.parameters.some((parameter) => parameter.name === "Idempotency-Key")
      assert.strictEqual(named, name.startsWith("POST ") && operation.security.length > 0, name)
    }
  })

  it("the document describes exactly the endpoints of the contract", () => {
    const names = endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`)
    assert.sameMembers(operations.map(({ name }) => name), names)
  })

  it("each operation has a unique id and the security that its access requires", () => {
    const ids = [...operations.map(({ operation }) => operation), ...sent.map(([, operation]) => operation)].map((
      { operationId }
    ) => operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
    // A generated client would have usage.usage() or usageUsage().
    assert.deepStrictEqual(ids.filter((id) => /^(\w+)\.?\1$/i.test(id)), [])
    for (const { name, operation } of operations) {
      const endpoint = endpoints.find(({ method, path }) =>
        name === `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`
      )
      assert.deepStrictEqual(operation.security, endpoint?.rule?.kind === "public" ? [] : [{ bearer: [] }], name)
    }
  })

  it("each operation names every parameter of its path", () => {
    for (const { name, operation, path } of operations) {
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map((parameter) =>
        parameter.name
      )
      assert.deepStrictEqual(inPath, [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, parameter]) => parameter), name)
    }
  })

  it("each operation documents its authentication, rate limit and server errors", () => {
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses)
      const wanted = operation.security.length === 0 ? ["422", "500", "503"] : ["401", "403", "429", "500", "503"]
      assert.includeMembers(statuses, wanted, name)
    }
  })

  it("every reference resolves", () => {
    const names = [...OpenApiFile.text.matchAll(/"\$ref": "([^"]*)"/g)].map(([, ref]) => ref)
    const known = (["schemas", "headers"] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`)
    )
    assert.includeMembers(known, names)
  })

  it("requests and answers refer to schemas by the names of what they describe", () => {
    const names = Object.keys(document.components.schemas)
    assert.includeMembers(names, ["Webhook", "EmailMessage", "EmailBatch", "Message", "WhatsAppSession", "PageMeta"])
    assert.deepStrictEqual(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name) || name.endsWith("Encoded")), [])
    for (const { name, operation } of operations) {
      const inline = JSON.stringify(operation).includes(
        `"schema":{"type":"object","properties":{"success":{"type":"boolean","enum":[false]`
      )
      assert.isFalse(inline, `${name} describes an error without its name`)
    }
  })

  it("each body, and what each answer of success holds, is a schema with a name", () => {
    const unnamed = endpoints.flatMap(({ method, name, path }) =>
      unnamedIn(method, path).map((place) => `${name}: ${place}`)
    )
    assert.deepStrictEqual(unnamed, [])
  })

  it("the content of a WhatsApp message has one form for each type, and only a text needs no type", () => {
    const Branch = Schema.Struct({
      properties: Schema.Struct({
        type: Schema.Struct({ enum: Schema.Tuple([MessageType]) }),
        content: Schema.Struct({ anyOf: Schema.Array(Schema.Struct({ $ref: Schema.optionalKey(Schema.String) })) })
      }),
      required: Schema.Array(Schema.String)
    })
    const Body = Schema.Struct({ allOf: Schema.Tuple([Schema.Struct({ anyOf: Schema.Array(Branch) })]) })
    for (const name of ["NewWhatsAppMessage", "NewWhatsAppBatch"]) {
      const { allOf: [{ anyOf }] } = Schema.decodeUnknownSync(Body)(document.components.schemas[name])
      const types = anyOf.map(({ properties }) => properties.type.enum[0])
      assert.deepStrictEqual(types, [...MessageType.literals])
      const forms = anyOf.map(({ properties }) => properties.content.anyOf.find(({ $ref }) => $ref !== undefined)?.$ref)
      assert.strictEqual(new Set(forms).size, types.length)
      const untyped = anyOf.filter(({ required }) => !required.includes("type"))
      assert.deepStrictEqual(untyped.map(({ properties }) => properties.type.enum[0]), ["text"])
    }
    assert.deepInclude(document.components.schemas["WhatsAppPollContent"], { required: ["question", "options"] })
  })

  it("a body is required, but where all that it has can be left out", () => {
    const optional = operations.filter(({ operation }) => operation.requestBody?.required === false)
    assert.sameMembers(optional.map(({ name }) => name), [
      "POST /v1/api-keys/{id}/rotate",
      "POST /v1/webhooks/{id}/rotate-secret",
      "POST /v1/whatsapp/sessions"
    ])
  })

  it("whole numbers have a size, and no bound that only JavaScript has", () => {
    assert.isFalse(OpenApiFile.text.includes(String(Number.MAX_SAFE_INTEGER)))
    assert.notMatch(OpenApiFile.text, /"type": "integer"(?!,\s+"format": "int64")(?!,\s+"(?:description|default)")/)
  })

  it("a key is sent by the scheme whose name programs know, in lower case", () => {
    assert.deepInclude(document.components.securitySchemes["bearer"], { type: "http", scheme: "bearer" })
  })

  it("GET has no answer that refuses a body", () => {
    for (const { name, operation } of operations) {
      if (name.startsWith("GET ")) assert.isFalse(["413", "415"].some((status) => status in operation.responses), name)
    }
  })

  it("each answer names its request id, and each of a known caller its rate limit", () => {
    for (const { name, operation } of operations) {
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        assert.property(headers, "X-Request-Id", `${name} ${status}`)
        const isCounted = operation.security.length > 0 && /^[24]/.test(status) && status !== "401"
        assert.strictEqual("RateLimit" in headers, isCounted, `${name} ${status}`)
      }
    }
  })

  it("each body, value of a path and answer of success has an example", () => {
    const json = Schema.Struct({ "application/json": Schema.optionalKey(Schema.Struct({ example: Schema.Unknown })) })
    const Message = Schema.Struct({ content: Schema.optionalKey(json) })
    const Shown = Schema.Struct({
      parameters: Schema.Array(Schema.Struct({
        name: Schema.String,
        in: Schema.String,
        example: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int]))
      })),
      requestBody: Schema.optionalKey(Message),
      responses: Schema.Record(Schema.String, Schema.Unknown)
    })
    const whole = JSON.parse(OpenApiFile.text).paths
    for (const { name, path } of operations) {
      const shown = Schema.decodeUnknownSync(Shown)(whole[path][name.split(" ")[0]?.toLowerCase() ?? ""])
      const unshown = shown.parameters.filter((parameter) => parameter.in === "path" && parameter.example === undefined)
      assert.deepStrictEqual(unshown.map((parameter) => parameter.name), [], name)
      for (const [status, response] of Object.entries(shown.responses)) {
        if (status.startsWith("2")) {
          assert.doesNotThrow(() => Schema.decodeUnknownSync(Message)(response), `${name} ${status}`)
        }
      }
    }
  })

  it("each group of operations has a sentence", () => {
    for (const { description, name } of document.tags) assert.match(description, /[.]$/, name)
  })

  it("no schema forbids additional fields", () => {
    assert.isFalse(OpenApiFile.text.includes(`"additionalProperties": false`))
  })

  it("docs/openapi.json is current (node scripts/openapi.ts writes it)", () => {
    assert.isTrue(NodeFs.readFileSync(OpenApiFile.path, "utf8") === OpenApiFile.text)
  })
})

layer(Service.layer())("GET /openapi.json", (it) => {
  it.effect("the document of docs/openapi.json is served to any origin, with 304 for a matching ETag", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const whole = yield* request("GET", "/openapi.json")
      const file: unknown = JSON.parse(NodeFs.readFileSync(OpenApiFile.path, "utf8"))
      assert.isTrue(whole.text === `${JSON.stringify(file)}\n`)
      assert.strictEqual(whole.headers["content-type"], "application/json")
      assert.strictEqual(whole.headers["access-control-allow-origin"], "*")
      const etag = whole.headers["etag"] ?? ""
      assert.match(etag, /^W\/"[\w-]{22}"$/)
      const strong = etag.slice(2)
      for (const asked of [etag, strong, `"other", ${etag}`, "*"]) {
        const unchanged = yield* request("GET", "/openapi.json", { headers: { "if-none-match": asked } })
        assert.deepStrictEqual(
          [unchanged.status, unchanged.text.length, unchanged.headers["etag"]],
          [304, 0, etag],
          asked
        )
      }
      const changed = yield* request("GET", "/openapi.json", { headers: { "if-none-match": `W/"other"` } })
      assert.deepStrictEqual([changed.status, changed.text.length], [200, whole.text.length])
    }))

  it.effect("no other path sends CORS headers", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const headers = { origin: "https://evil.example", "access-control-request-method": "GET" }
      for (const path of ["/v1/api-keys", "/docs", "/health/ready", "/v1/nothing"]) {
        for (const method of ["GET", "OPTIONS"]) {
          const answer = yield* request(method, path, { headers })
          assert.deepStrictEqual(Object.keys(answer.headers).filter((name) => name.startsWith("access-control")), [])
        }
      }
    }))
})

/** Header names documented for this status, in lower case. */
const headersOf = (name: string, status: number) =>
  Object.keys(operations.find((found) => found.name === name)?.operation.responses[status]?.headers ?? {})
    .map((header) => header.toLowerCase())

layer(Service.layer({ env: { RATE_LIMIT_STARTER: "1" } }))("documented headers", (it) => {
  it.effect("a list, a replayed answer and a 429 carry every header that the document names", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const list = "/v1/whatsapp/messages"
      const { key } = yield* makeAccount()
      const read = yield* request("GET", list, { key })
      const json = { to: "ada@people.example", subject: "s", text: "t" }
      const sending = { key: (yield* makeAccount()).key, json, headers: { "idempotency-key": "one" } }
      yield* request("POST", "/v1/email/send", sending)
      const again = yield* request("POST", "/v1/email/send", sending)
      const crowded = yield* makeAccount({ plan: "starter" })
      const refused = yield* eventually(request("GET", list, { key: crowded.key }), ({ status }) => status === 429)
      const answers = [
        [`GET ${list}`, 200, read],
        ["POST /v1/email/send", 202, again],
        [`GET ${list}`, 429, refused]
      ] as const
      for (const [name, status, { headers, ...answer }] of answers) {
        assert.strictEqual(answer.status, status, answer.text)
        assert.isAtLeast(headersOf(name, status).length, 6, name)
        assert.includeMembers(Object.keys(headers), headersOf(name, status), name)
      }
      assert.include(headersOf(`GET ${list}`, 200), "link")
      assert.include(headersOf("POST /v1/email/send", 202), "idempotency-replayed")
      assert.include(headersOf(`GET ${list}`, 429), "retry-after")
    }))
})

layer(Service.layer({ env: { PUBLIC_URL: "https://messages.example/" } }))(
  "GET /openapi.json behind PUBLIC_URL",
  (it) => {
    it.effect("names the address at which clients reach the service", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        assert.deepStrictEqual((yield* request("GET", "/openapi.json")).at("servers"), [{
          url: "https://messages.example"
        }])
      }))
  }
)

layer(Service.layer())("GET /docs", (it) => {
  it.effect("the page shows the API and its events and loads nothing from other sites", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const page = yield* request("GET", "/docs")
      assert.strictEqual(page.status, 200)
      assert.match(page.headers["content-type"] ?? "", /^text\/html/)
      assert.isTrue(page.text.includes("Messaging Service"))
      assert.isTrue(page.text.includes("webhook.email.bulk_completed"), "the events are on it as well")
      assert.isFalse(/<(script|link)[^>]+(src|href)=["']?(https?:)?\/\//.test(page.text))
    }))

  it.effect("the policy of the page allows its scripts by their hashes and nothing else", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { headers, text } = yield* request("GET", "/docs")
      const policy = headers["content-security-policy"] ?? ""
      assert.match(policy, /^default-src 'none'; /)
      const [, allowed = ""] = /script-src ([^;]*);/.exec(policy) ?? []
      const scripts = [...text.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script = ""]) => script)
      const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
      assert.lengthOf(hashes, 2)
      assert.strictEqual(allowed, hashes.join(" "))
    }))

  it.effect("the page is compressed for clients that accept it, and not sent again while it is unchanged", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const plain = yield* request("GET", "/docs")
      assert.match(plain.headers["cache-control"] ?? "", /^public, max-age=/)
      for (
        const [accepted, encoding] of [["gzip, deflate, br", "br"], ["gzip", "gzip"], ["br;q=0", undefined]] as const
      ) {
        const { headers } = yield* request("GET", "/docs", { headers: { "accept-encoding": accepted } })
        assert.strictEqual(headers["content-encoding"], encoding)
        assert.strictEqual(headers["vary"], "accept-encoding")
        if (encoding !== undefined) assert.isBelow(Number(headers["content-length"]), plain.text.length / 2)
      }
      const again = yield* request("GET", "/docs", { headers: { "if-none-match": plain.headers["etag"] ?? "" } })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
    }))
})

describe("fields of an email", () => {
  it("every field has a description", () => {
    const Fields = Schema.Struct({
      properties: Schema.Record(Schema.String, Schema.Struct({ description: Schema.NonEmptyString }))
    })
    for (const name of ["NewEmail", "NewEmailBatch"]) {
      assert.doesNotThrow(() => Schema.decodeUnknownSync(Fields)(document.components.schemas[name]), name)
    }
  })
})
