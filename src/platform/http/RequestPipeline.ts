import { Cause, Clock, Context, Effect, Layer, Metric, Option, Ref, Result } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { AppConfig } from "../config/AppConfig.ts"
import { uuid7 } from "../crypto/ids.ts"
import { DatabaseProbe } from "../database/DatabaseProbe.ts"
import { Outages } from "../database/Outages.ts"
import { isDatabaseUnavailable } from "../database/unavailable.ts"
import { Allowed } from "./Allowed.ts"
import { errorResponse, isApiError } from "./ApiError.ts"
import { InternalError, MethodNotAllowed, NotFound, RequestRefused, ServiceUnavailable } from "./ApiErrors.ts"
import { RequestContext, type RequestFacts } from "./RequestContext.ts"
import { RequestsInFlight } from "./RequestsInFlight.ts"

/** After this time of a request the node checks whether the database still answers. */
const checkAfter = "2500 millis"

/**
 * Answers 503 within 5 seconds when the database stops answering, whatever statement the request waits for. A request
 * that is slow for another reason continues, because the database answers the check.
 */
export const whileDatabaseAnswers = Effect.map(DatabaseProbe, ({ answers }) => {
  const watch = answers("1500 millis").pipe(
    Effect.delay(checkAfter),
    Effect.repeat({ while: (isAnswering) => isAnswering }),
    Effect.andThen(Effect.die(new ServiceUnavailable()))
  )
  return <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.raceFirst(request, watch)
})

/**
 * How far this node's shutdown is. While it drains, it answers requests and closes their connections, so that clients
 * leave without an error. Then it finishes the requests in flight and refuses others.
 */
export class Draining extends Context.Service<Draining, {
  readonly begin: Effect.Effect<void>
  readonly refuse: Effect.Effect<void>
  readonly phase: Effect.Effect<"open" | "draining" | "refusing">
}>()("messaging-service/platform/http/RequestPipeline/Draining") {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(
      Ref.make<"open" | "draining" | "refusing">("open"),
      (phase) =>
        Draining.of({ begin: Ref.set(phase, "draining"), refuse: Ref.set(phase, "refusing"), phase: Ref.get(phase) })
    )
  )
}

/** Enough to recognise a program. */
const maxAgentLength = 200

/** Headers of every answer that does not set them itself. */
export const defaultHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "frame-ancestors 'none'"
} as const

const requests = Metric.counter("http_requests_total", { description: "Answers by method and status" })

const duration = Metric.histogram("http_request_duration_milliseconds", {
  description: "From the parsed head of a request to its answer",
  boundaries: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000]
})

const counters = new Map<string, Metric.Counter<number>>()

const counterOf = (method: string, status: number) => {
  const known = counters.get(`${method} ${status}`)
  if (known !== undefined) return known
  const counter = Metric.withAttributes(requests, { method, status: String(status) })
  counters.set(`${method} ${status}`, counter)
  return counter
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Counts one answer. Unknown methods count as `other`, so that clients cannot create series. */
const observeRequest = (method: string, status: number, millis: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(counterOf(methods.has(method) ? method : "other", status), 1),
    Metric.update(duration, millis)
  )

/** Load balancers may still check the health of a node that shuts down. */
const isHealth = (path: string) => path.startsWith("/health/")

const isUnknownRoute = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && reason.error instanceof HttpServerError.HttpServerError &&
    reason.error.reason._tag === "RouteNotFound"
  )

/** The documented error behind a failure. Any other failure is a defect: the node logs it whole and answers 500. */
const errorOf = Effect.fnUntraced(function*(cause: Cause.Cause<unknown>) {
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (isApiError(problem)) return problem
  }
  if (isDatabaseUnavailable(cause)) {
    yield* (yield* Outages).note(cause)
    return new ServiceUnavailable()
  }
  const { requestId } = yield* RequestContext
  yield* Effect.logError("request failed", cause).pipe(Effect.annotateLogs({ request_id: requestId }))
  return new InternalError()
})

/** HTTP/1.1 requires Host (RFC 9112, 3.2). Node would reject such a request itself, but with an empty body. */
const lacksHost = ({ headers, source }: HttpServerRequest.HttpServerRequest) =>
  headers["host"] === undefined && "httpVersion" in source && source.httpVersion === "1.1"

const noRoute = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, allow: ReadonlyArray<string>) {
    // The path exists for this method, so a parameter is malformed: too long, or not UTF-8.
    const isMalformed = request.method !== "OPTIONS" && allow.includes(request.method)
    if (allow.length === 0 || isMalformed) return yield* errorResponse(new NotFound())
    const { answerHeaders } = yield* RequestContext
    answerHeaders.set("allow", allow.join(", "))
    return request.method === "OPTIONS"
      ? HttpServerResponse.empty({ status: 204 })
      : yield* errorResponse(new MethodNotAllowed({ allow }))
  }
)

/** Gives an answer of the library that has no body the documented one. */
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
    ...(response.status === 503 ? { "retry-after": "2" } : {}),
    ...response.headers,
    ...Object.fromEntries(facts.answerHeaders),
    "x-request-id": facts.requestId,
    ...(draining ? { connection: "close" } : {})
  })

/** Answers every request, also when its handler fails. */
const through = Effect.gen(function*() {
  const draining = yield* Draining
  const allowed = yield* Allowed
  const whileAnswered = yield* whileDatabaseAnswers
  const inFlight = yield* RequestsInFlight
  const outages = yield* Outages

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
        userAgent: (request.headers["user-agent"] ?? "").slice(0, maxAgentLength),
        answerHeaders: new Map()
      }
      const answered = lacksHost(request)
        ? errorResponse(new RequestRefused())
        : (yield* draining.phase) === "refusing" && !isHealth(path)
        ? errorResponse(new ServiceUnavailable())
        : Effect.catchCauseIf(
          whileAnswered(isHealth(path) ? httpEffect : inFlight.ofAddress(facts.clientAddress, httpEffect)),
          (cause) => !Cause.hasInterrupts(cause),
          explained(request, path)
        )
      const response = yield* answered.pipe(
        Effect.flatMap(completed),
        // Checked last, so that a connection with a request in flight at the start of the shutdown closes too.
        Effect.flatMap((answer) => Effect.map(draining.phase, (phase) => withHeaders(answer, facts, phase !== "open"))),
        Effect.provideService(RequestContext, facts),
        Effect.provideService(Outages, outages)
      )
      yield* observeRequest(request.method, response.status, (yield* Clock.currentTimeMillis) - startedAt)
      return response
    })
})

/**
 * Warns once if a peer forwards addresses without being trusted: all clients behind this proxy share its rate limits.
 */
const warnOfUntrustedProxy = (trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>) => {
  let hasWarned = false
  return Effect.gen(function*() {
    const { headers, peerAddress } = yield* HttpServerRequest.HttpServerRequest
    if (hasWarned || headers["x-forwarded-for"] === undefined) return
    const peer = NetAddress.ipFromString(Option.getOrElse(peerAddress, () => ""))
    if (Result.isFailure(peer)) return
    const address = NetAddress.toCanonical(peer.success)
    if (trustedProxies.some((network) => IpNetwork.contains(network, address))) return
    hasWarned = true
    yield* Effect.logWarning("X-Forwarded-For is ignored, because TRUSTED_PROXIES does not list its sender").pipe(
      Effect.annotateLogs({ peer: NetAddress.formatIp(address) })
    )
  })
}

/**
 * Wraps every request, matched or not. It sets the request id and the client address, gives every answer that is not 2xx
 * the documented body, adds the default headers, and refuses new work while the node shuts down.
 */
export const RequestPipeline = HttpRouter.middleware(
  Effect.gen(function*() {
    const { trustedProxies = [] } = yield* AppConfig
    const pipeline = yield* through
    // Outermost, so that everything inside sees the address of the client and not of the proxy.
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    const warn = warnOfUntrustedProxy(trustedProxies)
    return (httpEffect) => Effect.andThen(warn, forwarded(pipeline(httpEffect)))
  }),
  { global: true }
)
