import { Cause, Clock, Effect, Layer, Option } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig } from "../config/AppConfig.ts"
import { uuid7 } from "../crypto/uuid7.ts"
import { databaseAway } from "../database/databaseAway.ts"
import { observeRequest } from "../observability/HttpMetrics.ts"
import { Allowed } from "./Allowed.ts"
import { InternalError, MethodNotAllowed, NotFound, RequestRefused, ServiceUnavailable } from "./ApiErrors.ts"
import { Draining } from "./Draining.ts"
import { type ApiError, errorResponse, isApiError } from "./errorResponse.ts"
import { RequestContext, type RequestFacts } from "./RequestContext.ts"

/** What the checks of a load balancer may still ask while a node leaves. */
const isHealth = (path: string) => path.startsWith("/health/")

const isUnknownRoute = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && reason.error instanceof HttpServerError.HttpServerError &&
    reason.error.reason._tag === "RouteNotFound"
  )

/** The documented error that stands behind a failure. Whatever has none is a defect: logged whole, told as 500. */
const errorOf = Effect.fnUntraced(function*(cause: Cause.Cause<unknown>) {
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (isApiError(problem)) return problem
  }
  if (databaseAway(cause)) return new ServiceUnavailable()
  const { requestId } = yield* RequestContext
  yield* Effect.logError("request failed", cause).pipe(Effect.annotateLogs({ request_id: requestId }))
  return new InternalError()
})

const retryAfter: Readonly<Record<string, string>> = { IdempotencyInProgress: "1", ServiceUnavailable: "2" }

const answerOf = Effect.fnUntraced(function*(error: ApiError) {
  const seconds = retryAfter[error._tag]
  if (seconds !== undefined) (yield* RequestContext).answerHeaders.set("retry-after", seconds)
  return yield* errorResponse(error)
})

const noRoute = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, allow: ReadonlyArray<string>) {
    if (allow.length === 0) return yield* answerOf(new NotFound())
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("allow", allow.join(", "))
    return request.method === "OPTIONS"
      ? HttpServerResponse.empty({ status: 204 })
      : yield* answerOf(new MethodNotAllowed({ allow }))
  }
)

/** An answer of the library that has no body of its own gets the documented one. */
const completed = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status < 400 || response.body._tag !== "Empty") return Effect.succeed(response)
  return Effect.map(
    errorResponse(response.status >= 500 ? new InternalError() : new RequestRefused()),
    HttpServerResponse.setStatus(response.status)
  )
}

const standing = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store" }

const withHeaders = (facts: RequestFacts, draining: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeaders(response, {
    ...standing,
    ...response.headers,
    ...Object.fromEntries(facts.answerHeaders),
    "x-request-id": facts.requestId,
    ...(draining ? { connection: "close" } : {})
  })

/**
 * Around every request, matched or not: its id and client address, the documented body on every answer that is not 2xx,
 * the standing headers, and the refusal of new work while the node leaves.
 */
export const Gate = Layer.mergeAll(
  HttpRouter.middleware(
    Effect.gen(function*() {
      const draining = yield* Draining
      const allowed = yield* Allowed
      return (httpEffect) =>
        Effect.gen(function*() {
          const request = yield* HttpServerRequest.HttpServerRequest
          const startedAt = yield* Clock.currentTimeMillis
          const path = request.url.replace(/\?.*$/s, "")
          const isDraining = yield* draining.begun
          const facts: RequestFacts = {
            requestId: uuid7(startedAt),
            clientAddress: Option.getOrElse(request.remoteAddress, () => ""),
            answerHeaders: new Map()
          }
          const answered = isDraining && !isHealth(path)
            ? answerOf(new ServiceUnavailable())
            : Effect.catchCause(httpEffect, (cause) =>
              Cause.hasInterrupts(cause)
                ? Effect.failCause(cause)
                : isUnknownRoute(cause)
                ? noRoute(request, allowed.methods(path))
                : Effect.flatMap(errorOf(cause), answerOf))
          const response = yield* answered.pipe(
            Effect.flatMap(completed),
            Effect.map(withHeaders(facts, isDraining)),
            Effect.provideService(RequestContext, facts)
          )
          yield* observeRequest(request.method, response.status, (yield* Clock.currentTimeMillis) - startedAt)
          return response
        })
    }),
    { global: true }
  ),
  HttpRouter.middleware(
    Effect.map(
      AppConfig,
      ({ trustedProxies }) => HttpMiddleware.xForwardedHeaders({ trustedProxies: trustedProxies ?? [] })
    ),
    { global: true }
  )
)
