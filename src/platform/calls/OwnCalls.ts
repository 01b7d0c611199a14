import { Context, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OwnRequest, type Principal } from "../http/Authentication.ts"
import { HeldOutside } from "../http/MemoryBudget.ts"
import { RequestContext } from "../http/RequestContext.ts"

/** A request to the API. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** The idempotency key of a POST: sent twice, it does nothing twice. */
  readonly once?: string
  /** The caller's own request holds the memory of the body already. */
  readonly isHeld?: boolean
}

/** Its answer. */
export interface Answer {
  readonly status: number
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown
  /** A call with the same key was made before. */
  readonly isReplayed: boolean
}

const parsed = (text: string): unknown => {
  const found = Option.liftThrowable((given: string): unknown => JSON.parse(given))(text)
  return Option.getOrUndefined(found)
}

/**
 * Calls endpoints in this process, without a socket, as an authenticated caller: a person of the console, or the key of an
 * agent. The request passes the router like any other, so access, validation, quotas, rate limits, idempotency and the audit
 * log apply.
 */
export class OwnCalls extends Context.Service<OwnCalls, {
  readonly call: (principal: Principal["Service"], call: Call) => Effect.Effect<Answer>
}>()("messaging-service/platform/calls/OwnCalls") {
  static readonly layer = Layer.effect(
    OwnCalls,
    Effect.map(HttpRouter.HttpRouter, (router) => {
      // The library does not know the failures of routes; the pipeline turns each into an answer.
      // @effect-diagnostics-next-line anyUnknownInErrorContext:off
      const made = () => Effect.orDie(router.asHttpEffect())
      let handle: ReturnType<typeof made> | undefined

      const call = Effect.fn("OwnCalls.call")(
        function*(principal: Principal["Service"], { body, isHeld = false, method, once, path }: Call) {
          const { clientAddress, userAgent } = yield* RequestContext
          // The first call follows the start, so the router has all routes.
          handle ??= made()
          const request = new Request(`http://own${path}`, {
            method,
            headers: {
              host: "own",
              "user-agent": userAgent,
              ...(body !== undefined && { "content-type": "application/json" }),
              authorization: "Bearer own"
            },
            ...(body !== undefined && { body: JSON.stringify(body) })
          })
          const headers = new Headers(request.headers)
          if (body !== undefined) headers.set("content-length", String(Buffer.byteLength(JSON.stringify(body))))
          // Not in the request: it throws at characters that the endpoint refuses.
          const keyed = once !== undefined && method === "POST" && { "idempotency-key": once }
          const asked = HttpServerRequest.fromWeb(request).modify({
            remoteAddress: Option.some(clientAddress),
            headers: { ...Object.fromEntries(headers), ...keyed } as HttpServerRequest.HttpServerRequest["headers"]
          })
          const answer = yield* handle.pipe(
            Effect.provideService(HttpServerRequest.HttpServerRequest, asked),
            Effect.provideService(OwnRequest, principal),
            Effect.provideService(HeldOutside, isHeld),
            Effect.scoped
          )
          const web = HttpServerResponse.toWeb(answer)
          const text = yield* Effect.promise(() => web.text())
          return {
            status: web.status,
            body: parsed(text),
            isReplayed: web.headers.get("idempotency-replayed") === "true"
          }
        }
      )
      return OwnCalls.of({ call })
    })
  )
}
