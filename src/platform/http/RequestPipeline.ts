import { Cause, Clock, Effect, Option } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { AppConfig } from "../config/AppConfig.ts"
import { uuid7 } from "../crypto/uuid7.ts"
import { isDatabaseUnavailable } from "../database/isDatabaseUnavailable.ts"
import { Allowed } from "./Allowed.ts"
import { InternalError, MethodNotAllowed, NotFound, RequestRefused, ServiceUnavailable } from "./ApiErrors.ts"
import { defaultHeaders } from "./defaultHeaders.ts"
import { Draining } from "./Draining.ts"
import { errorResponse, isApiError } from "./errorResponse.ts"
import { observeRequest } from "./HttpMetrics.ts"
import { RequestContext, type RequestFacts } from "./RequestContext.ts"
import { whileDatabaseAnswers } from "./whileDatabaseAnswers.ts"

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
  if (isDatabaseUnavailable(cause)) return new ServiceUnavailable()
  const { requestId } = yield* RequestContext
  yield* Effect.logError("request failed", cause).pipe(Effect.annotateLogs({ request_id: requestId }))
  return new InternalError()
})

/** HTTP/1.1 wants a Host (RFC 9112, 3.2). Node would refuse such a request itself, but with an empty body. */
const lacksHost = ({ headers, source }: HttpServerRequest.HttpServerRequest) =>
  headers["host"] === undefined && "httpVersion" in source && source.httpVersion === "1.1"

const noRoute = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, allow: ReadonlyArray<string>) {
    // A path that takes the method and still led nowhere has a parameter that cannot be one: too long, or not UTF-8.
    const leadsNowhere = request.method !== "OPTIONS" && allow.includes(request.method)
    if (allow.length === 0 || leadsNowhere) return yield* errorResponse(new NotFound())
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("allow", allow.join(", "))
    return request.method === "OPTIONS"
      ? HttpServerResponse.empty({ status: 204 })
      : yield* errorResponse(new MethodNotAllowed({ allow }))
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

const withHeaders = (response: HttpServerResponse.HttpServerResponse, facts: RequestFacts, draining: boolean) =>
  HttpServerResponse.setHeaders(response, {
    ...defaultHeaders,
    ...response.headers,
    ...Object.fromEntries(facts.answerHeaders),
    "x-request-id": facts.requestId,
    ...(response.status === 503 ? { "retry-after": "2" } : {}),
    ...(draining ? { connection: "close" } : {})
  })

/** The answer to a request, whatever becomes of it. */
const through = Effect.gen(function*() {
  const draining = yield* Draining
  const allowed = yield* Allowed
  const whileAnswered = yield* whileDatabaseAnswers

  const explained = (request: HttpServerRequest.HttpServerRequest, path: string) => (cause: Cause.Cause<unknown>) =>
    isUnknownRoute(cause) ? noRoute(request, allowed.methods(path)) : Effect.flatMap(errorOf(cause), errorResponse)

  return <E, R>(httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const startedAt = yield* Clock.currentTimeMillis
      const path = request.url.replace(/\?.*$/s, "")
      const facts: RequestFacts = {
        requestId: uuid7(startedAt),
        clientAddress: Option.getOrElse(request.remoteAddress, () => ""),
        answerHeaders: new Map()
      }
      const answered = lacksHost(request)
        ? errorResponse(new RequestRefused())
        : (yield* draining.begun) && !isHealth(path)
        ? errorResponse(new ServiceUnavailable())
        : Effect.catchCauseIf(
          whileAnswered(httpEffect),
          (cause) => !Cause.hasInterrupts(cause),
          explained(request, path)
        )
      const response = yield* answered.pipe(
        Effect.flatMap(completed),
        // Asked last: a connection whose request was in flight when the node began to leave is not kept either.
        Effect.flatMap((answer) => Effect.map(draining.begun, (begun) => withHeaders(answer, facts, begun))),
        Effect.provideService(RequestContext, facts)
      )
      yield* observeRequest(request.method, response.status, (yield* Clock.currentTimeMillis) - startedAt)
      return response
    })
})

/**
 * Around every request, matched or not: its id and client address, the documented body on every answer that is not 2xx,
 * the standing headers, and the refusal of new work while the node leaves.
 */
export const Gate = HttpRouter.middleware(
  Effect.gen(function*() {
    const { trustedProxies = [] } = yield* AppConfig
    const gate = yield* through
    // Outermost, so that all that follows sees the address of the client instead of the proxy's.
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    return (httpEffect) => forwarded(gate(httpEffect))
  }),
  { global: true }
)
