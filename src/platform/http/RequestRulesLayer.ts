import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { type InvalidJson, type NotFound, ValidationFailed } from "./ApiErrors.ts"
import { Principal } from "./Authentication.ts"
import { BodyLimit } from "./BodyLimit.ts"
import { Idempotency } from "./Idempotency.ts"
import { readBody } from "./requestBody.ts"
import { RequestRules } from "./RequestRules.ts"
import { fromSchemaError } from "./violations.ts"

const callerOf = (principal: Option.Option<Principal["Service"]>) =>
  Option.match(principal, {
    onNone: () => undefined,
    onSome: ({ accountId, keyId }) => keyId === undefined ? `account:${accountId}` : `key:${keyId}`
  })

type Misfit = NotFound | InvalidJson | ValidationFailed

/** What the library fails with when a part of the request does not fit becomes one of the documented errors. */
const documented = <E>(error: E): Effect.Effect<never, E | Misfit> =>
  HttpApiError.HttpApiSchemaError.is(error) ? fromSchemaError(error) : Effect.fail(error)

/** A query parameter with a NUL character, which no text in PostgreSQL can hold or be compared with. */
const withNul = (search: HttpServerRequest.ParsedSearchParams["Service"]) =>
  Object.keys(search).find((name) =>
    name.includes("\0") || [search[name]].flat().some((value) => value?.includes("\0"))
  )

/** See {@link RequestRules}. A public endpoint has no caller, so an `Idempotency-Key` there has no meaning. */
export const RequestRulesLayer = Layer.effect(
  RequestRules,
  Effect.gen(function*() {
    const idempotency = yield* Idempotency
    return RequestRules.of((httpEffect, { endpoint }) =>
      Effect.gen(function*() {
        const nul = withNul(yield* HttpServerRequest.ParsedSearchParams)
        if (nul !== undefined) return yield* ValidationFailed.of(nul, "must not contain a NUL character")
        const body = yield* readBody(Context.get(endpoint.annotations, BodyLimit))
        const decoded = Effect.catch(httpEffect, documented)
        const caller = callerOf(yield* Effect.serviceOption(Principal))
        return yield* caller === undefined ? decoded : idempotency.once(caller, body, decoded)
      })
    )
  })
)
