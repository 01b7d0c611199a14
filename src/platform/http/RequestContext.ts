import { Context, DateTime, Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AccountId, ApiKeyId, LoginSessionId, PersonId } from "../../values/Ids.ts"
import { fromDateTime, type Timestamp } from "../../values/Timestamp.ts"

/** Whose credential a request has, as far as it is known. */
export interface Caller {
  readonly accountId?: AccountId | null | undefined
  readonly keyId?: ApiKeyId | null | undefined
  readonly sessionId?: LoginSessionId | null | undefined
  /** The visible part of a key. */
  readonly keyPrefix?: string
  /** The person who makes it in the console. */
  readonly person?: { readonly id: PersonId } | undefined
}

/** Facts about the current request. The pipeline sets them before anything else runs. */
export interface RequestFacts {
  /** UUID version 7: `X-Request-Id` of the answer and `meta.request_id` of its body. */
  readonly requestId: string
  /** The start of the client's own `X-Request-Id`, for the log. */
  readonly clientRequestId?: string | undefined
  /** The client's address: the peer's, or the one that a trusted proxy forwards. */
  readonly clientAddress: string
  /** What the client calls itself: the start of `User-Agent`, empty without one. */
  readonly userAgent: string
  /** `PUBLIC_URL` without a trailing slash; empty if it is not set. */
  readonly publicBase: string
  /** Headers that handlers add to the answer, whatever its status. */
  readonly answerHeaders: Map<string, string>
  /** Whether this process makes the request to itself. `OwnRequest` has its caller. */
  readonly isOwn: boolean
  /** Names that the endpoint does not know, each with what became of it. */
  warnings?: ReadonlyArray<string>
  /** Those of them that are fields of the body. */
  unknownFields?: ReadonlyArray<string>
  /** The body of a send that was refused. */
  refusedBody?: string
  /** Set by the authentication, as the next one. */
  caller?: Caller
  /** The path of the endpoint, such as `/v1/webhooks/:id`. */
  route?: string
}

/** An answer with 401, 403 or 429. */
export interface Refusal {
  readonly facts: RequestFacts
  readonly method: string
  /** The path's template: the path itself may hold tokens. Undefined for an unknown path. */
  readonly route: string | undefined
  readonly status: number
  /** `error.type` of the answer; undefined for a page. */
  readonly reason: string | undefined
}

/** Receives every refusal. A port: `observability` implements it. */
export class Refusals extends Context.Service<Refusals, {
  readonly note: (refusal: Refusal) => Effect.Effect<void>
}>()("messaging-service/platform/http/RequestContext/Refusals") {}

/** A request with its answer. */
export interface AnsweredRequest {
  readonly facts: RequestFacts
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly status: number
  readonly millis: number
  readonly response: HttpServerResponse.HttpServerResponse
}

/** Receives every request with its answer, and must not make it wait. A port: `requests` implements it. */
export class AnsweredRequests extends Context.Service<AnsweredRequests, {
  readonly note: (request: AnsweredRequest) => void
}>()("messaging-service/platform/http/RequestContext/AnsweredRequests") {}

/** The facts of the current request; empty outside a request. */
export const RequestContext = Context.Reference<RequestFacts>("messaging-service/platform/http/RequestContext", {
  defaultValue: () => ({
    requestId: "00000000-0000-7000-8000-000000000000",
    clientAddress: "",
    userAgent: "",
    publicBase: "",
    isOwn: false,
    answerHeaders: new Map()
  })
})

/** The query of a request. */
export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest): URLSearchParams =>
  new URLSearchParams(url.split("?").slice(1).join("?"))

/** `meta` of an answer (spec 2.1). */
export const meta: Effect.Effect<{ readonly request_id: string; readonly timestamp: Timestamp }> = Effect.gen(
  function*() {
    const { requestId } = yield* RequestContext
    return { request_id: requestId, timestamp: fromDateTime(yield* DateTime.now) }
  }
)

/** The body of a successful answer without data. */
export const nothing = Effect.map(meta, (meta) => ({ success: true as const, data: null, meta }))

/** Marks the form of this request as deprecated since a time in Unix seconds (RFC 9745). */
export const deprecated = (since: number): Effect.Effect<void> =>
  Effect.map(RequestContext, ({ answerHeaders }) => void answerHeaders.set("deprecation", `@${since}`))

/** Sets `Location` to the path of the created resource. */
export const created = (path: string): Effect.Effect<void> =>
  Effect.map(RequestContext, ({ answerHeaders }) => void answerHeaders.set("location", path))

/** What a handler adds to the `warnings` of its answer: the names of the request that its endpoint does not know. */
export const unknownNames: Effect.Effect<ReadonlyArray<string>> = Effect.map(
  RequestContext,
  ({ warnings = [] }) => warnings
)
