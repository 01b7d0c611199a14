import { Context, Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { type InvalidJson, type NotFound, ValidationFailed } from "./ApiErrors.ts"
import { Principal } from "./Authentication.ts"
import { Idempotency } from "./Idempotency.ts"
import { readBody } from "./requestBody.ts"
import { BodyLimit, RequestRules } from "./RequestRules.ts"
import { fromSchemaError, pathOf } from "./violations.ts"

const callerOf = (principal: Option.Option<Principal["Service"]>) =>
  Option.match(principal, {
    onNone: () => undefined,
    onSome: ({ accountId, keyId }) => ({
      accountId,
      name: keyId === undefined ? `account:${accountId}` : `key:${keyId}`
    })
  })

/** The JSON escapes of NUL and of lone surrogates. Valid UTF-8 and valid JSON have no plain ones. */
const suspicious = /\\u(?:0000|d[89a-f][\da-f]{2})/i

const isStorable = (name: string) => name.isWellFormed() && !name.includes("\0")

const findUnstorable = (value: unknown, path: ReadonlyArray<PropertyKey>): ReadonlyArray<PropertyKey> | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const names = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const name of names) {
    if (typeof name === "string" && !isStorable(name)) return path
    const found = findUnstorable(Reflect.get(value, name), [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * The path of an object in a JSON text that has a name with a NUL character or a lone surrogate, which PostgreSQL can store
 * neither as text nor as jsonb. Schemas check values; they do not check the names of a record.
 */
const unstorableName = (text: string): string | undefined => {
  if (!suspicious.test(text)) return undefined
  const path = findUnstorable(Option.getOrUndefined(parseJson(text)), [])
  return path === undefined ? undefined : pathOf(path)
}

type Misfit = NotFound | InvalidJson | ValidationFailed

/** Turns the library's schema error into one of the documented errors. */
const documented = <E>(error: E): Effect.Effect<never, E | Misfit> =>
  HttpApiError.HttpApiSchemaError.is(error) ? fromSchemaError(error) : Effect.fail(error)

/** Rejects characters that PostgreSQL cannot store, in the places that no schema checks. */
const storable = Effect.fnUntraced(function*(search: HttpServerRequest.ParsedSearchParams["Service"], body: string) {
  const hasNul = (value: string | undefined) => value?.includes("\0") ?? false
  const param = Object.keys(search).find((name) => hasNul(name) || [search[name]].flat().some(hasNul))
  if (param !== undefined) return yield* ValidationFailed.of(param, "must not contain a NUL character")
  const place = unstorableName(body)
  if (place === undefined) return
  return yield* ValidationFailed.of(place, "must not have a name with a NUL character or a lone surrogate")
})

/** Implements {@link RequestRules}. A public endpoint has no caller, so it ignores `Idempotency-Key`. */
export const RequestRulesLayer = Layer.effect(
  RequestRules,
  Effect.gen(function*() {
    const idempotency = yield* Idempotency
    return RequestRules.of((httpEffect, { endpoint }) =>
      Effect.gen(function*() {
        const body = yield* readBody(Context.get(endpoint.annotations, BodyLimit))
        yield* storable(yield* HttpServerRequest.ParsedSearchParams, body)
        const decoded = Effect.catch(httpEffect, documented)
        const caller = callerOf(yield* Effect.serviceOption(Principal))
        return yield* caller === undefined ? decoded : idempotency.once(caller, body, decoded)
      })
    )
  })
)
