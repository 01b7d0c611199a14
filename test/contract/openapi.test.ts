import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as NodeFs from "node:fs"
import * as OpenApiFile from "../../scripts/openapi.ts"
import { Service } from "../support/Service.ts"
import { endpoints } from "./contract.ts"

const Operation = Schema.Struct({
  operationId: Schema.String,
  summary: Schema.NonEmptyString,
  description: Schema.NonEmptyString,
  tags: Schema.NonEmptyArray(Schema.String),
  security: Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String, schema: Schema.Unknown })),
  responses: Schema.Record(Schema.String, Schema.Unknown)
})

const Document = Schema.Struct({
  openapi: Schema.Literal("3.1.0"),
  info: Schema.Struct({ title: Schema.String, version: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, Schema.Unknown),
    securitySchemes: Schema.Record(Schema.String, Schema.Unknown)
  })
})

const document = Schema.decodeUnknownSync(Document)(JSON.parse(OpenApiFile.text))

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation }))
)

describe("the OpenAPI document", () => {
  it("says that numbers in paths and queries are numbers", () => {
    const numbers = operations.flatMap(({ operation }) => operation.parameters)
      .filter(({ name }) => ["id", "delivery_id", "page", "per_page"].includes(name))
    assert.isNotEmpty(numbers)
    for (const { schema } of numbers) assert.deepInclude(schema, { type: "integer", minimum: 1 })
  })

  it("describes every endpoint and nothing else", () => {
    const names = endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`)
    assert.sameMembers(operations.map(({ name }) => name), names)
  })

  it("gives every operation an id of its own, and the security that its access asks for", () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const { name, operation } of operations) {
      const endpoint = endpoints.find(({ method, path }) =>
        name === `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`
      )
      assert.deepStrictEqual(operation.security, endpoint?.rule?.kind === "public" ? [] : [{ bearer: [] }], name)
    }
  })

  it("names every parameter of every path", () => {
    for (const { name, operation, path } of operations) {
      const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map((parameter) =>
        parameter.name
      )
      assert.deepStrictEqual(inPath, [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, parameter]) => parameter), name)
    }
  })

  it("says for every operation what a wrong key, a flood and a failure look like", () => {
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses)
      const wanted = operation.security.length === 0 ? ["422", "500", "503"] : ["401", "403", "429", "500", "503"]
      assert.includeMembers(statuses, wanted, name)
    }
  })

  it("refers to nothing that it does not have", () => {
    const names = [...OpenApiFile.text.matchAll(/"\$ref": "([^"]*)"/g)].map(([, ref]) => ref)
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    assert.includeMembers(known, names)
  })

  it("promises no answer and forbids no request to have more fields than it names", () => {
    assert.isFalse(OpenApiFile.text.includes(`"additionalProperties": false`))
  })

  it("is current in docs/openapi.json (node scripts/openapi.ts writes it)", () => {
    assert.isTrue(NodeFs.readFileSync(OpenApiFile.path, "utf8") === OpenApiFile.text)
  })
})

layer(Service.layer())("GET /openapi.json", (it) => {
  it.effect("serves the document of docs/openapi.json, to any page, and tells when nothing changed", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const whole = yield* request("GET", "/openapi.json")
      const file: unknown = JSON.parse(NodeFs.readFileSync(OpenApiFile.path, "utf8"))
      assert.isTrue(whole.text === JSON.stringify(file))
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

  it.effect("lets pages read it and nothing else", () =>
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

layer(Service.layer())("GET /docs", (it) => {
  it.effect("is a page about the document that needs nothing from elsewhere", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const page = yield* request("GET", "/docs")
      assert.strictEqual(page.status, 200)
      assert.match(page.headers["content-type"] ?? "", /^text\/html/)
      assert.isTrue(page.text.includes("Messaging Service"))
      assert.isFalse(/<(script|link)[^>]+(src|href)=["']?(https?:)?\/\//.test(page.text))
    }))
})
