import { Context, DateTime, Effect } from "effect"
import type { AccountId, ApiKeyId, LoginSessionId } from "../../values/Ids.ts"
import { fromDateTime, type Timestamp } from "../../values/Timestamp.ts"

/** Whose credential a request has, as far as it is known. */
export interface Caller {
  readonly accountId?: AccountId | null | undefined
  readonly keyId?: ApiKeyId | null | undefined
  readonly sessionId?: LoginSessionId | null | undefined
  /** The visible part of a key. */
  readonly keyPrefix?: string
}

/** Facts about the current request. The pipeline sets them before anything else runs. */
export interface RequestFacts {
  /** UUID version 7: `X-Request-Id` of the answer and `meta.request_id` of its body. */
  readonly requestId: string
  /** The client's address: the peer's, or the one that a trusted proxy forwards. */
  readonly clientAddress: string
  /** What the client calls itself: the start of `User-Agent`, empty without one. */
  readonly userAgent: string
  /** `PUBLIC_URL` without a trailing slash; empty if it is not set. */
  readonly publicBase: string
  /** Headers that handlers add to the answer, whatever its status. */
  readonly answerHeaders: Map<string, string>
  /** Set by the authentication. */
  caller?: Caller
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

/** The facts of the current request; empty outside a request. */
export const RequestContext = Context.Reference<RequestFacts>("messaging-service/platform/http/RequestContext", {
  defaultValue: () => ({
    requestId: "00000000-0000-7000-8000-000000000000",
    clientAddress: "",
    userAgent: "",
    publicBase: "",
    answerHeaders: new Map()
  })
})

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
