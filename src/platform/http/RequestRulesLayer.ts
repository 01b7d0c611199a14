import { Context, Effect, Layer, Option, Schema } from "effect"
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
import { makeUnknownNames, namesBeside, withOtherNames } from "./names/UnknownNames.ts"
import { limitPerMinute, RateLimit } from "./RateLimit.ts"
import { hasBody, readBody } from "./requestBody.ts"
import { RequestContext, type RequestFacts } from "./RequestContext.ts"
import { BodyLimit, RequestRules, WaitsOutside } from "./RequestRules.ts"
import { RequestsInFlight } from "./RequestsInFlight.ts"
import { fromSchemaError } from "./violations.ts"

/** Seconds after which a refused request may be repeated. */
const retryAfter = 60

const isSending = (rule: Rule | undefined) => rule?.kind === "account" && rule.paid === "sending"

/** Refuses new messages while the database is short of space, before their bodies are read. */
const requireSpace = Effect.fnUntraced(function*({ isLow }: FreeSpace["Service"]) {
  if (!(yield* isLow)) return
  const { answerHeaders } = yield* RequestContext
  answerHeaders.set("retry-after", String(retryAfter))
  return yield* new StorageLow({ retry_after: retryAfter })
})

const callerOf = ({ accountId, keyId, person }: Principal["Service"]) => ({
  accountId,
  name: keyId !== undefined
    ? `key:${keyId}`
    : `account:${accountId}${person === undefined ? "" : ` person:${person.id}`}`
})

type Misfit = NotFound | InvalidJson | ValidationFailed

const isValidationFailed = Schema.is(ValidationFailed)

/** Turns the library's schema error into one of the documented errors. */
const documented = <E>(error: E): Effect.Effect<never, E | Misfit> =>
  HttpApiError.HttpApiSchemaError.is(error) ? fromSchemaError(error) : Effect.fail(error)

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** A larger body is not parsed once more for the sake of its error. */
const maxParsed = 64 * 1024

/** Names the field of the body that holds the value of a missing one. */
const namingFields = Effect.fnUntraced(function*<E>(error: E) {
  if (!isValidationFailed(error)) return yield* Effect.fail(error)
  const { unknownFields = [] } = yield* RequestContext
  const isNested = error.errors.some(({ param, type }) => type === "missing" && param.includes("."))
  const text = isNested ? yield* Effect.orElseSucceed((yield* HttpServerRequest.HttpServerRequest).text, () => "") : ""
  const body = text === "" || text.length > maxParsed ? undefined : Option.getOrUndefined(parsed(text))
  const errors = withOtherNames(
    error.errors,
    (param) => param.includes(".") ? namesBeside(body, param) : unknownFields
  )
  return yield* new ValidationFailed({ param: error.param, errors })
})

const hasNul = (value: string | undefined) => value?.includes("\0") ?? false

/** Rejects a character that PostgreSQL cannot store, in a place that no schema checks. */
const requireStorable = (search: HttpServerRequest.ParsedSearchParams["Service"]) => {
  const param = Object.keys(search).find((name) => hasNul(name) || [search[name]].flat().some(hasNul))
  return param === undefined ? Effect.void : ValidationFailed.of(param, "must not contain a NUL character")
}

const secretField = "current_password"

/** Before the body is checked: a stored answer, also a refusal, keeps a plain hash of the body. */
const refuseKeptSecret = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
  const { headers, method } = yield* HttpServerRequest.HttpServerRequest
  if (method !== "POST" || headers["idempotency-key"] === undefined || !names.includes(secretField)) return
  return yield* ValidationFailed.of(secretField, "must not be sent with an Idempotency-Key")
})

const told = (tell: (facts: RequestFacts) => void) => Effect.map(RequestContext, tell)

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
    const held = Effect.fnUntraced(function*(
      answer: HttpServerResponse.HttpServerResponse,
      bytes: number,
      accountId: AccountId
    ) {
      const { method } = yield* HttpServerRequest.HttpServerRequest
      // This process has read the answer to its own request at once.
      if ((yield* RequestContext).isOwn) return answer
      if (method === "GET") yield* memory.holdAnswer(accountId, bytes)
      return yield* answerInTime(answer)
    })
    const written = (accountId: AccountId) => (answer: HttpServerResponse.HttpServerResponse) =>
      answer.body._tag !== "Uint8Array" || answer.body.contentLength <= largeAnswer
        ? Effect.succeed(answer)
        : held(answer, answer.body.contentLength, accountId)

    return RequestRules.of((httpEffect, { endpoint }) => {
      const rule = Context.getOrUndefined(endpoint.annotations, Access)
      const limit = Context.get(endpoint.annotations, AddressLimit)
      const bodyLimit = Context.get(endpoint.annotations, BodyLimit)
      const waits = Context.get(endpoint.annotations, WaitsOutside)
      const decoded = Effect.catch(httpEffect, (error) => Effect.catch(documented(error), namingFields))
      const unknown = makeUnknownNames(endpoint)
      const storable = Effect.flatMap(
        HttpServerRequest.ParsedSearchParams,
        (search) =>
          Effect.andThen(requireStorable(search), told((facts) => unknown.inQuery(facts, Object.keys(search))))
      )

      const limited = limit === undefined ?
        Effect.void :
        Effect.flatMap(
          RequestContext,
          ({ clientAddress }) =>
            limitPerMinute(limits, { name: `${limit}:${networkOf(clientAddress)}`, limit: config[limit] })
        )
      /** Keeps the body of a refused send for the log of requests. */
      const refusable = <A, E, R>(answered: Effect.Effect<A, E, R>, body: string) =>
        isSending(rule)
          ? Effect.tapError(answered, () => told((facts) => void (facts.refusedBody = body)))
          : answered

      const precondition = isSending(rule) ? Effect.andThen(requireSpace(space), limited) : limited

      const read = Effect.fnUntraced(function*(accountId: AccountId | undefined) {
        // Only small bodies come without an account.
        const { byteLength, names, text: body } = yield* readBody(bodyLimit, accountId ?? 0).pipe(
          Effect.provideService(BodyMemory, memory)
        )
        if (accountId !== undefined) yield* refuseKeptSecret(names)
        if (accountId !== undefined && isSending(rule)) yield* volume.spend(accountId, byteLength)
        yield* storable
        yield* told((facts) => unknown.inBody(facts, names, body))
        return body
      })

      const handled = Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) =>
          Effect.flatMap(Effect.serviceOption(Principal), (principal) => {
            if (Option.isNone(principal)) {
              return hasBody(request) ? Effect.andThen(read(undefined), decoded) : Effect.andThen(storable, decoded)
            }
            const caller = callerOf(principal.value)
            const answered = hasBody(request) || request.method === "POST"
              ? Effect.flatMap(
                read(caller.accountId),
                (body) => refusable(idempotency.once({ caller, body, waits }, decoded), body)
              )
              : Effect.andThen(storable, decoded)
            return inFlight.ofAccount(caller.accountId, Effect.flatMap(answered, written(caller.accountId)))
          })
      )
      return precondition === Effect.void ? handled : Effect.andThen(precondition, handled)
    })
  })
)
