import { Context, DateTime, Effect } from "effect"
import { fromDateTime, type Timestamp } from "../../values/Timestamp.ts"

/** What is known of the request in hand. Set once per request, before anything else runs. */
export interface RequestFacts {
  /** UUID version 7: `X-Request-Id` of the answer and `meta.request_id` of its body. */
  readonly requestId: string
  /** The client's address: the peer's, or what a trusted proxy says it forwards for. */
  readonly clientAddress: string
  /** Headers that whoever handles the request wants on the answer, whatever it will be. */
  readonly answerHeaders: Map<string, string>
}

/** The facts of the request in hand; outside a request an empty one. */
export const RequestContext = Context.Reference<RequestFacts>("messaging-service/platform/http/RequestContext", {
  defaultValue: () => ({
    requestId: "00000000-0000-7000-8000-000000000000",
    clientAddress: "",
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

/** The answer of a command without a result. */
export const nothing = Effect.map(meta, (meta) => ({ success: true as const, data: null, meta }))

/** Says that what the request asks for in this way has been deprecated since then, in Unix seconds (RFC 9745). */
export const deprecated = (since: number): Effect.Effect<void> =>
  Effect.map(RequestContext, ({ answerHeaders }) => void answerHeaders.set("deprecation", `@${since}`))

/** Names the place of what was made (`Location`). */
export const created = (path: string): Effect.Effect<void> =>
  Effect.map(RequestContext, ({ answerHeaders }) => void answerHeaders.set("location", path))
