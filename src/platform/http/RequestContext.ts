import { Context, DateTime, Effect } from "effect"
import { fromDateTime, type Timestamp } from "../../values/Timestamp.ts"

/** Facts about the current request. The pipeline sets them before anything else runs. */
export interface RequestFacts {
  /** UUID version 7: `X-Request-Id` of the answer and `meta.request_id` of its body. */
  readonly requestId: string
  /** The client's address: the peer's, or the one that a trusted proxy forwards. */
  readonly clientAddress: string
  /** What the client calls itself: the start of `User-Agent`, empty without one. */
  readonly userAgent: string
  /** Headers that handlers add to the answer, whatever its status. */
  readonly answerHeaders: Map<string, string>
}

/** The facts of the current request; empty outside a request. */
export const RequestContext = Context.Reference<RequestFacts>("messaging-service/platform/http/RequestContext", {
  defaultValue: () => ({
    requestId: "00000000-0000-7000-8000-000000000000",
    clientAddress: "",
    userAgent: "",
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
