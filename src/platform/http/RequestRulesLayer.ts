import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { type InvalidJson, type NotFound, ValidationFailed } from "./ApiErrors.ts"
import { Principal } from "./Authentication.ts"
import { BodyLimit } from "./BodyLimit.ts"
import { Idempotency } from "./Idempotency.ts"
import { readBody } from "./requestBody.ts"
import { RequestRules } from "./RequestRules.ts"
import { unstorableName } from "./unstorableName.ts"
import { fromSchemaError } from "./violations.ts"

const callerOf = (principal: Option.Option<Principal["Service"]>) =>
  Option.match(principal, {
    onNone: () => undefined,
    onSome: ({ accountId, keyId }) => ({
      accountId,
      name: keyId === undefined ? `account:${accountId}` : `key:${keyId}`
    })
  })

type Misfit = NotFound | InvalidJson | ValidationFailed

/** What the library fails with when a part of the request does not fit becomes one of the documented errors. */
const documented = <E>(error: E): Effect.Effect<never, E | Misfit> =>
  HttpApiError.HttpApiSchemaError.is(error) ? fromSchemaError(error) : Effect.fail(error)

/** Refuses what no text in PostgreSQL can hold or be compared with, where no schema looks. */
const storable = Effect.fnUntraced(function*(search: HttpServerRequest.ParsedSearchParams["Service"], body: string) {
  const hasNul = (value: string | undefined) => value?.includes("\0") ?? false
  const param = Object.keys(search).find((name) => hasNul(name) || [search[name]].flat().some(hasNul))
  if (param !== undefined) return yield* ValidationFailed.of(param, "must not contain a NUL character")
  const place = unstorableName(body)
  if (place === undefined) return
  return yield* ValidationFailed.of(place, "must not have a name with a NUL character or a lone surrogate")
})

/** See {@link RequestRules}. A public endpoint has no caller, so an `Idempotency-Key` there has no meaning. */
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
