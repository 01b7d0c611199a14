import { Clock, Context, Effect, Layer } from "effect"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { AppConfig } from "../../config/AppConfig.ts"
import { uuid7 } from "../../crypto/ids.ts"
import { defaultHeaders } from "./defaultHeaders.ts"
import { Draining } from "./Draining.ts"
import { observeRequest } from "./requestMetrics.ts"

/** An answer that exists before its request. */
export interface ReadyAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array | undefined
}

interface QuickRequest {
  readonly headers: IncomingHttpHeaders
  readonly clientAddress: string
}

/** Undefined leaves the request to its route. */
type Find = (request: QuickRequest) => ReadyAnswer | undefined

/** A request that no rule of the pipeline concerns: it has no body, and comes from its client directly. */
const isPlain = ({ headers, method }: IncomingMessage) =>
  method === "GET" && headers.host !== undefined && headers["x-forwarded-for"] === undefined &&
  headers["content-length"] === undefined && headers["transfer-encoding"] === undefined

/**
 * Answers that need neither the database nor a decision. The server sends them before the routes see the request, because
 * the pipeline and the router cost several times as much as the answer. Each path also has a route, which answers whenever
 * the quick answer is missing.
 */
export class QuickAnswers extends Context.Service<QuickAnswers, {
  /** Registers the answer to GET of a path without a query. */
  readonly add: (path: string, find: Find) => Effect.Effect<void>
  /** Sends the answer to a request. False if it has none. */
  readonly send: (request: IncomingMessage, response: ServerResponse) => boolean
}>()("messaging-service/platform/http/ready/QuickAnswers") {
  static readonly layer = Layer.effect(
    QuickAnswers,
    Effect.gen(function*() {
      const { otlpEndpoint } = yield* AppConfig
      const draining = yield* Draining
      const clock = yield* Clock.Clock
      const context = yield* Effect.context<never>()
      const paths = new Map<string, Find>()
      const heads = new WeakMap<ReadyAnswer, ReadonlyArray<string>>()

      const headOf = (answer: ReadyAnswer) => {
        const known = heads.get(answer)
        if (known !== undefined) return known
        const length = answer.bytes === undefined ? {} : { "content-length": String(answer.bytes.length) }
        const head = Object.entries({ ...defaultHeaders, ...length, ...answer.headers }).flat()
        heads.set(answer, head)
        return head
      }

      return QuickAnswers.of({
        add: (path, find) => Effect.sync(() => void paths.set(path, find)),
        send: (request, response) => {
          const find = paths.get(request.url ?? "")
          // With a collector, the routes create the span of each request.
          if (find === undefined || !isPlain(request) || draining.hasBegun() || otlpEndpoint !== undefined) {
            return false
          }
          const startedAt = clock.currentTimeMillisUnsafe()
          const answer = find({ headers: request.headers, clientAddress: request.socket.remoteAddress ?? "" })
          if (answer === undefined) return false
          response.writeHead(answer.status, [...headOf(answer), "x-request-id", uuid7(startedAt)]).end(answer.bytes)
          observeRequest(context, {
            method: "GET",
            status: answer.status,
            millis: clock.currentTimeMillisUnsafe() - startedAt
          })
          return true
        }
      })
    })
  )
}
