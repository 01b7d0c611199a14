import { Cause, Clock, Context, Effect, Fiber, Option, Result, Schedule, Schema } from "effect"
import {
  HttpBody,
  HttpMiddleware,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { AppConfig } from "../config/AppConfig.ts"
import { uuid7 } from "../crypto/ids.ts"
import { DatabaseProbe } from "../database/DatabaseProbe.ts"
import { Outages } from "../database/Outages.ts"
import { isDatabaseUnavailable } from "../database/unavailable.ts"
import { millisOf } from "../schedule/monotonic.ts"
import { Overload } from "../work/Overload.ts"
import { Allowed } from "./Allowed.ts"
import { errorResponse, isApiError } from "./ApiError.ts"
import { InternalError, MethodNotAllowed, NotFound, RequestRefused, ServiceUnavailable } from "./ApiErrors.ts"
import { OwnRequest } from "./Authentication.ts"
import { publicBase } from "./PublicUrl.ts"
import { defaultHeaders } from "./ready/defaultHeaders.ts"
import { Draining } from "./ready/Draining.ts"
import { observeRequest } from "./ready/requestMetrics.ts"
import { AnsweredRequests, Refusals, RequestContext, type RequestFacts } from "./RequestContext.ts"
import { RequestsInFlight } from "./RequestsInFlight.ts"

/** After this time of a request the node checks whether the database still answers. */
const checkAfter = 2_500

interface Watched {
  readonly startedAt: number
  readonly giveUp: () => void
}

/**
 * Answers 503 within 5 seconds when the database stops answering, whatever statement the request waits for. A request
 * that is slow for another reason continues, because the database answers the check. One fiber watches all requests.
 *
 * Each request has its own fiber, because a transaction that begins or ends cannot be interrupted, and a statement only
 * after seconds. The fiber of a request that was answered gives its connection back when the database lets it.
 */
export const whileDatabaseAnswers = Effect.gen(function*() {
  const { answers } = yield* DatabaseProbe
  const clock = yield* Clock.Clock
  const millis = () => millisOf(clock)
  /** The oldest first. */
  const watched = new Set<Watched>()
  let checkedAt = -Infinity

  const check = Effect.gen(function*() {
    const startedBefore = millis() - checkAfter
    const [oldest] = watched
    if (oldest === undefined || oldest.startedAt > startedBefore || checkedAt > startedBefore) return
    checkedAt = millis()
    if (yield* answers("1500 millis")) return
    for (const request of watched) {
      if (request.startedAt > startedBefore) return
      request.giveUp()
    }
  })
  yield* Effect.forkScoped(Effect.repeat(check, Schedule.spaced("250 millis")))

  return <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const startedAt = millis()
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.forkDetach(request, { startImmediately: true }), (fiber) =>
          restore(Effect.callback<A, E>((resume) => {
            const watch: Watched = {
              startedAt,
              giveUp: () => {
                watched.delete(watch)
                resume(Effect.die(new ServiceUnavailable()))
                fiber.interruptUnsafe()
              }
            }
            watched.add(watch)
            fiber.addObserver((exit) => {
              watched.delete(watch)
              resume(exit)
            })
            return Fiber.interrupt(fiber)
          })))
      )
    })
})

/** Enough to recognise a program. */
const maxAgentLength = 200

/** Longer than any usual id. */
const maxRequestIdLength = 128

/** Load balancers may still check the health of a node that shuts down. */
const isHealth = (path: string) => path.startsWith("/health/")

const isUnknownRoute = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && reason.error instanceof HttpServerError.HttpServerError &&
    reason.error.reason._tag === "RouteNotFound"
  )

/** The documented error behind a failure. Any other failure is a defect: the node logs it whole and answers 500. */
const errorOf = Effect.fnUntraced(function*(outages: Outages["Service"], cause: Cause.Cause<unknown>) {
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (isApiError(problem)) return problem
  }
  if (isDatabaseUnavailable(cause)) {
    yield* outages.note(cause)
    return new ServiceUnavailable()
  }
  const { clientRequestId, requestId } = yield* RequestContext
  yield* Effect.logError("request failed", cause).pipe(Effect.annotateLogs({
    request_id: requestId,
    ...(clientRequestId !== undefined && { client_request_id: clientRequestId })
  }))
  return new InternalError()
})

/** HTTP/1.1 requires Host (RFC 9112, 3.2). Node would reject such a request itself, but with an empty body. */
const lacksHost = ({ headers, source }: HttpServerRequest.HttpServerRequest) =>
  headers["host"] === undefined && "httpVersion" in source && source.httpVersion === "1.1"

const noRoute = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, path: string, { methods, near }: Allowed["Service"]) {
    const allow = methods(path)
    if (allow.length === 0) {
      const did_you_mean = near(request.method, path)
      return yield* errorResponse(new NotFound(did_you_mean === undefined ? {} : { did_you_mean }))
    }
    // The path exists for this method, so a parameter is malformed: too long, or not UTF-8.
    const isMalformed = request.method !== "OPTIONS" && allow.includes(request.method)
    if (isMalformed) return yield* errorResponse(new NotFound())
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

const refusals: ReadonlySet<number> = new Set([401, 403, 429])

const typeOf = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ type: Schema.String }) }))
)

/** `error.type` of an answer; undefined for a page. */
const reasonOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array"
    ? Option.getOrUndefined(Option.map(typeOf(Buffer.from(body.body).toString()), ({ error }) => error.type))
    : undefined

/** Ends JSON with a line feed, so that a terminal's prompt begins on the next line. Prepared bytes end with one already. */
const endingLine = (response: HttpServerResponse.HttpServerResponse) => {
  const { body } = response
  return body._tag === "Uint8Array" && body.contentType === "application/json" && body.text !== undefined
    ? HttpServerResponse.setBody(response, HttpBody.text(`${body.text}\n`, body.contentType))
    : response
}

const withHeaders = (answer: HttpServerResponse.HttpServerResponse, facts: RequestFacts, draining: boolean) => {
  const response = endingLine(answer)
  const headers: Record<string, string> = { ...defaultHeaders }
  if (response.status === 503) headers["retry-after"] = "2"
  Object.assign(headers, response.headers)
  for (const [name, value] of facts.answerHeaders) headers[name] = value
  headers["x-request-id"] = facts.requestId
  if (draining) headers["connection"] = "close"
  return HttpServerResponse.setHeaders(response, headers)
}

const pathOf = (url: string) => {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

/** An error holds a stack, so it is made only for a request that is refused. */
const overloaded = Effect.suspend(() => Effect.fail(new ServiceUnavailable()))

/** Answers every request, also when its handler fails. */
const through = Effect.gen(function*() {
  const base = publicBase(yield* AppConfig)
  const draining = yield* Draining
  const allowed = yield* Allowed
  const whileAnswered = yield* whileDatabaseAnswers
  const inFlight = yield* RequestsInFlight
  const outages = yield* Outages
  const { note } = yield* Refusals
  const requests = yield* AnsweredRequests
  const overload = yield* Overload
  const clock = yield* Clock.Clock

  const explained = (request: HttpServerRequest.HttpServerRequest, path: string) => (cause: Cause.Cause<unknown>) =>
    isUnknownRoute(cause)
      ? noRoute(request, path, allowed)
      : Effect.flatMap(errorOf(outages, cause), errorResponse)

  return <E, R>(httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest | R>) => {
      const request = Context.get(context, HttpServerRequest.HttpServerRequest)
      const startedAt = clock.currentTimeMillisUnsafe()
      const path = pathOf(request.url)
      const isOwn = Context.get(context, OwnRequest) !== undefined
      const facts: RequestFacts = {
        requestId: uuid7(startedAt),
        clientRequestId: request.headers["x-request-id"]?.slice(0, maxRequestIdLength),
        clientAddress: Option.getOrElse(request.remoteAddress, () => ""),
        userAgent: (request.headers["user-agent"] ?? "").slice(0, maxAgentLength),
        publicBase: base,
        isOwn,
        answerHeaders: new Map()
      }
      const answered = lacksHost(request)
        ? errorResponse(new RequestRefused())
        : Effect.catchCauseIf(
          overload.guard(
            { method: request.method, path },
            whileAnswered(isHealth(path) || isOwn ? httpEffect : inFlight.ofAddress(facts.clientAddress, httpEffect)),
            overloaded
          ),
          (cause) => !Cause.hasInterrupts(cause),
          explained(request, path)
        )
      /** Checks the shutdown last, so that a connection with a request in flight at the start of the shutdown closes too. */
      const finish = (answer: HttpServerResponse.HttpServerResponse) => {
        const response = withHeaders(answer, facts, draining.hasBegun())
        const millis = clock.currentTimeMillisUnsafe() - startedAt
        const { method } = request
        const { status } = response
        observeRequest(context, { method, status, millis })
        requests.note({ facts, method, path, status, millis, response })
        if (!refusals.has(status)) return Effect.succeed(response)
        const refusal = { facts, method, route: allowed.route(path), status, reason: reasonOf(response) }
        return Effect.as(note(refusal), response)
      }
      return answered.pipe(
        Effect.flatMap(completed),
        Effect.flatMap(finish),
        Effect.provideService(RequestContext, facts)
      )
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
 * the documented body, and adds the default headers.
 */
export const RequestPipeline = HttpRouter.middleware(
  Effect.gen(function*() {
    const { trustedProxies = [] } = yield* AppConfig
    const pipeline = yield* through
    // Outermost, so that everything inside sees the address of the client and not of the proxy.
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    const warn = warnOfUntrustedProxy(trustedProxies)
    return (httpEffect) => {
      const direct = pipeline(httpEffect)
      const behindProxy = Effect.andThen(warn, forwarded(direct))
      return Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ headers }) => headers["x-forwarded-for"] === undefined ? direct : behindProxy
      )
    }
  }),
  { global: true }
)
