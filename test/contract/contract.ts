import { assert } from "@effect/vitest"
import { Context, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import { Api } from "../../src/api/Api.ts"
import { Access, type Rule } from "../../src/platform/http/Access.ts"
import type { WireName } from "../../src/platform/http/ApiError.ts"
import type { Answer } from "../support/Service.ts"

/** One declared endpoint of the contract. */
export interface Endpoint {
  /** The name in test titles and tables, such as `POST /v1/webhooks`. */
  readonly name: string
  readonly method: string
  /** With `:parameters`. */
  readonly path: string
  readonly rule: Rule | undefined
  /** Keys of its middlewares. */
  readonly middleware: ReadonlyArray<string>
  readonly declaration: HttpApiEndpoint.Top
  readonly statuses: ReadonlyArray<number>
}

/** Every endpoint of `api/Api.ts`. */
export const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, middleware, successes }) => {
      const path = endpoint.path.replace(/\/$/, "")
      found.push({
        name: `${endpoint.method} ${path}`,
        method: endpoint.method,
        path,
        rule: Context.getOrUndefined(endpoint.annotations, Access),
        middleware: [...middleware].map(({ key }) => key),
        declaration: endpoint,
        statuses: [...successes.keys(), ...errors.keys()]
      })
    }
  })
  return found
})()

/** Endpoints that require a credential. */
export const guarded = endpoints.flatMap((endpoint) =>
  endpoint.rule?.kind === "account" ? [{ ...endpoint, rule: endpoint.rule }] : []
)

/** Endpoints whose method carries a body. */
export const posting = endpoints.filter(({ method }) => method === "POST" || method === "PUT")

export const paths = [...new Set(endpoints.map(({ path }) => path))]

/** Replaces the path's parameters with the values in order; the last value fills the remaining ones. */
export const fill = (path: string, ...values: ReadonlyArray<string | number>) => {
  let next = 0
  return path.replaceAll(/:[a-z_]+/g, () => `${values[Math.min(next++, values.length - 1)]}`)
}

/** A declared error with its wire name. */
export interface KnownError extends WireName {
  readonly name: string
  readonly status: number
}

const src = NodeUrl.fileURLToPath(new URL("../../src", import.meta.url))

const sources = NodeFs.readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

/** Files of `src/` that declare errors of the contract, from `src/` on. */
export const errorFiles = sources.filter((file) =>
  / wire\(\s*\d/.test(NodeFs.readFileSync(NodePath.join(src, file), "utf8"))
)

const declared = (value: unknown): ReadonlyArray<KnownError> => {
  if (typeof value !== "function" || !Schema.isSchema(value)) return []
  const { httpApiStatus, wire } = Schema.resolveAnnotations(value) ?? {}
  return wire === undefined || httpApiStatus === undefined ? [] : [{ ...wire, name: value.name, status: httpApiStatus }]
}

const modules: ReadonlyArray<object> = await Promise.all(errorFiles.map((file) => import(NodePath.join(src, file))))

/** Every error of the contract, found by reflection. */
export const knownErrors: ReadonlyArray<KnownError> = modules.flatMap((module) => Object.values(module)).flatMap(
  declared
)

/** The body of every error response (R1); facts of the error are beside `message`. */
const ErrorBody = Schema.Struct({
  success: Schema.Literal(false),
  error: Schema.StructWithRest(
    Schema.Struct({
      type: Schema.String,
      code: Schema.Int,
      message: Schema.NonEmptyString,
      doc_url: Schema.String
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  ),
  meta: Schema.Struct({
    request_id: Schema.String.check(Schema.isPattern(uuid7())),
    timestamp: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/))
  })
})

function uuid7() {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
}

/** Checks the request id and the default headers of any response. */
export const assertDefaultHeaders = ({ headers }: Answer) => {
  assert.match(headers["x-request-id"] ?? "", uuid7())
  assert.strictEqual(headers["x-content-type-options"], "nosniff")
  assert.strictEqual(headers["referrer-policy"], "no-referrer")
  assert.isString(headers["cache-control"])
  assert.include(headers["content-security-policy"], "frame-ancestors 'none'")
}

/** Checks an error response: the documented body, with a type and code declared for this status. */
export const assertRefused = (answer: Answer, status: number, type: string) => {
  assert.deepStrictEqual({ status: answer.status, type: answer.at("error", "type") }, { status, type }, answer.text)
  assertDefaultHeaders(answer)
  assert.strictEqual(answer.headers["content-type"], "application/json")
  const body = Schema.decodeUnknownSync(ErrorBody)(answer.json, { onExcessProperty: "error", errors: "all" })
  assert.strictEqual(body.meta.request_id, answer.headers["x-request-id"])
  assert.notMatch(answer.text, /_tag|\bat .*\.ts:\d/)
  const known = knownErrors.find((error) => error.type === type)
  assert.strictEqual(known?.code, body.error.code)
  assert.isTrue(body.error.doc_url.endsWith(`/docs/guides/errors#${type}`), body.error.doc_url)
  // Responses of Node itself share one type.
  if (type !== "bad_request") assert.strictEqual(known?.status, status)
}

/** The body without the parts that differ between requests. */
export const withoutMeta = ({ json }: Answer) => ({ ...Object(json), meta: undefined })
