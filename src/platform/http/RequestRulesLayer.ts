import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { AccountId } from "../../values/Ids.ts"
import { networkOf } from "../../values/IpAddress.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { FreeSpace } from "../database/FreeSpace.ts"
import { Access, AddressLimit, type Rule } from "./Access.ts"
import { answerInTime } from "./answerInTime.ts"
import { type InvalidJson, type NotFound, StorageLow, ValidationFailed } from "./ApiErrors.ts"
import { Principal } from "./Authentication.ts"
import { DailyVolume } from "./DailyVolume.ts"
import { Idempotency } from "./Idempotency.ts"
import { BodyMemory } from "./MemoryBudget.ts"
import { limitPerMinute, RateLimit } from "./RateLimit.ts"
import { readBody } from "./requestBody.ts"
import { RequestContext } from "./RequestContext.ts"
import { BodyLimit, RequestRules, WaitsOutside } from "./RequestRules.ts"
import { RequestsInFlight } from "./RequestsInFlight.ts"
import { fromSchemaError } from "./violations.ts"

/** Seconds after which a refused request may be repeated. */
const retryAfter = 60

const isSending = (rule: Rule | undefined) => rule?.kind === "account" && rule.paid === "sending"

/** Refuses new messages while the database is short of space, before their bodies are read. */
const requireSpace = Effect.fnUntraced(function*({ isLow }: FreeSpace["Service"], rule: Rule | undefined) {
  if (!isSending(rule) || !(yield* isLow)) return
  const { answerHeaders } = yield* RequestContext
  answerHeaders.set("retry-after", String(retryAfter))
  return yield* new StorageLow({ retry_after: retryAfter })
})

const callerOf = (principal: Option.Option<Principal["Service"]>) =>
  Option.match(principal, {
    onNone: () => undefined,
    onSome: ({ accountId, keyId }) => ({
      accountId,
      name: keyId === undefined ? `account:${accountId}` : `key:${keyId}`
    })
  })

type Misfit = NotFound | InvalidJson | ValidationFailed

/** Turns the library's schema error into one of the documented errors. */
const documented = <E>(error: E): Effect.Effect<never, E | Misfit> =>
  HttpApiError.HttpApiSchemaError.is(error) ? fromSchemaError(error) : Effect.fail(error)

/** Rejects a character that PostgreSQL cannot store, in a place that no schema checks. */
const requireStorable = Effect.fnUntraced(function*(search: HttpServerRequest.ParsedSearchParams["Service"]) {
  const hasNul = (value: string | undefined) => value?.includes("\0") ?? false
  const param = Object.keys(search).find((name) => hasNul(name) || [search[name]].flat().some(hasNul))
  if (param !== undefined) return yield* ValidationFailed.of(param, "must not contain a NUL character")
})

/** A socket's buffer takes smaller answers at once. */
const largeAnswer = 64 * 1024

/** Implements {@link RequestRules}. A public endpoint has no caller, so it ignores `Idempotency-Key`. */
export const RequestRulesLayer = Layer.effect(
  RequestRules,
  Effect.gen(function*() {
    const idempotency = yield* Idempotency
    const memory = yield* BodyMemory
    const inFlight = yield* RequestsInFlight
    const space = yield* FreeSpace
    const volume = yield* DailyVolume
    const limits = yield* RateLimit
    const config = yield* AppConfig

    /**
     * A large answer stays in memory until its client has read it, so it counts like a body. An answer to a change is
     * never refused, because the change is committed; the memory of the request's body is still reserved.
     */
    const written = Effect.fnUntraced(function*(answer: HttpServerResponse.HttpServerResponse, accountId: AccountId) {
      if (answer.body._tag !== "Uint8Array" || answer.body.contentLength <= largeAnswer) return answer
      const { method } = yield* HttpServerRequest.HttpServerRequest
      if (method === "GET") yield* memory.holdAnswer(accountId, answer.body.contentLength)
      return yield* answerInTime(answer)
    })

    return RequestRules.of((httpEffect, { endpoint }) =>
      Effect.gen(function*() {
        const rule = Context.getOrUndefined(endpoint.annotations, Access)
        yield* requireSpace(space, rule)
        const caller = callerOf(yield* Effect.serviceOption(Principal))
        const limit = Context.get(endpoint.annotations, AddressLimit)
        if (limit !== undefined) {
          const { clientAddress } = yield* RequestContext
          yield* limitPerMinute(limits, `${limit}:${networkOf(clientAddress)}`, config[limit])
        }
        const decoded = Effect.catch(httpEffect, documented)
        const read = Effect.gen(function*() {
          // Only small bodies come without an account.
          const body = yield* readBody(Context.get(endpoint.annotations, BodyLimit), caller?.accountId ?? 0).pipe(
            Effect.provideService(BodyMemory, memory)
          )
          if (caller !== undefined && isSending(rule)) yield* volume.spend(caller.accountId, body.length)
          yield* requireStorable(yield* HttpServerRequest.ParsedSearchParams)
          return body
        })
        if (caller === undefined) return yield* Effect.andThen(read, decoded)
        const waits = Context.get(endpoint.annotations, WaitsOutside)
        return yield* inFlight.ofAccount(
          caller.accountId,
          read.pipe(
            Effect.flatMap((body) => idempotency.once({ caller, body, waits }, decoded)),
            Effect.flatMap((answer) => written(answer, caller.accountId))
          )
        )
      })
    )
  })
)
