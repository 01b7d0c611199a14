import { Clock, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import type * as NodeNet from "node:net"
import { FailureReason } from "../../values/FailureReason.ts"
import type { AccountId } from "../../values/Ids.ts"
import { isPublicAddress } from "../../values/publicAddress.ts"
import * as Deadlines from "./Deadlines.ts"
import { Exchange, type ExchangeResult, type RawResponse } from "./Exchange.ts"
import { guardedConnector } from "./guardedConnector.ts"
import { HostSlots } from "./HostSlots.ts"
import { resolveName } from "./resolveName.ts"
import { describe, failureReason } from "./transportFailure.ts"
import { LateAgent } from "./undici.ts"

/** Options of the client; all have a default. */
export interface PublicHttpOptions {
  /** Development: loopback for the names localhost, 127.0.0.1 and ::1 only; false by default. */
  readonly allowLoopback?: boolean
  /** Name servers as `host:port`; the system's by default. */
  readonly dnsServers?: ReadonlyArray<string>
  /** Resolves names instead of DNS; its addresses are checked like those from DNS. */
  readonly lookup?: NodeNet.LookupFunction
  /** Whether an address is allowed; the public internet by default. */
  readonly isAllowed?: (address: string) => boolean
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string
  /** From the name's look-up to the end of the response's body; 10 seconds by default (spec 6.6). */
  readonly timeout?: Duration.Input
  /** Most bytes read of a response's body; 16 KiB by default. */
  readonly maxBodyBytes?: number
  /** Requests in flight to one host, on all its ports and for all accounts; 32 by default. */
  readonly connectionsPerHost?: number
  /** Requests in flight in total; 512 by default. */
  readonly connections?: number
}

/** A POST of bytes to a URL. */
export interface PostRequest {
  readonly url: URL
  /** The account whose request it is: accounts share the connections fairly. Undefined for requests of the service. */
  readonly account?: AccountId
  /** Called when the request starts, which may be after a wait for other requests to the same host. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly body: Uint8Array
  /**
   * Asked right before the request is written to its connection. When it answers false, nothing is, and `post`
   * interrupts itself.
   */
  readonly begin?: () => boolean
}

/** A response. Only `success` is 2xx; a `redirect` was not followed. */
export interface PostResponse extends RawResponse {
  readonly kind: "success" | "redirect" | "refusal"
  readonly durationMs: number
}

/** The request got no complete response. */
export class PublicHttpFailure extends Schema.TaggedError<PublicHttpFailure>()("PublicHttpFailure", {
  reason: FailureReason,
  /** One sentence for the owner of the URL; it reveals no private address. */
  detail: Schema.String,
  /** The status of a response whose body is incomplete. */
  status: Schema.optionalKey(Schema.Int),
  durationMs: Schema.Finite
}) {
  override get message(): string {
    return this.detail
  }
}

const kindOf = (status: number): PostResponse["kind"] => {
  if (status >= 200 && status < 300) return "success"
  return status >= 300 && status < 400 ? "redirect" : "refusal"
}

const makeAgent = (options: PublicHttpOptions, timeout: Duration.Duration) =>
  new LateAgent(() => ({
    connect: guardedConnector({
      isAllowed: options.isAllowed ?? isPublicAddress,
      allowLoopback: options.allowLoopback ?? false,
      lookup: options.lookup ?? resolveName(options.dnsServers),
      connectTimeoutMillis: Duration.toMillis(timeout),
      ca: options.ca
    }),
    allowH2: false,
    pipelining: 1,
    // The request's deadline bounds both, and the connect as well.
    headersTimeout: 0,
    bodyTimeout: 0
  }))

/** Measures milliseconds from now, to a hundredth. */
const stopwatch = (clock: Clock.Clock) => {
  const start = clock.monotonicTimeNanosUnsafe()
  return () => Number((clock.monotonicTimeNanosUnsafe() - start) / 10_000n) / 100
}

type PostExit = Exit.Exit<PostResponse, PublicHttpFailure>

const exitOf = (result: ExchangeResult, durationMs: number): PostExit => {
  if (result._tag === "Responded") {
    return Exit.succeed({ ...result.response, kind: kindOf(result.response.status), durationMs })
  }
  if (result._tag === "NotBegun") return Exit.interrupt()
  const { error, status } = result
  const reason = failureReason(error, status !== undefined)
  if (reason === undefined) return Exit.die(error)
  const detail = describe(error)
  return Exit.fail(new PublicHttpFailure({ reason, detail, durationMs, ...(status !== undefined && { status }) }))
}

const make = Effect.fnUntraced(function*(options: PublicHttpOptions) {
  const clock = yield* Clock.Clock
  const timeout = Duration.fromInputUnsafe(options.timeout ?? "10 seconds")
  const maxBodyBytes = options.maxBodyBytes ?? 16 * 1024
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => makeAgent(options, timeout)),
    (agent) => Effect.promise(() => agent.destroy())
  )
  const slots = new HostSlots({ perHost: options.connectionsPerHost ?? 32, total: options.connections ?? 512 })
  const startDeadline = yield* Deadlines.make(clock, timeout)

  /** One deadline for the whole request: a limit on the head alone would let a slow body hold the request for ever. */
  const exchange = ({ begin, body, headers, url }: PostRequest, end: (exit: PostExit) => void) => {
    // The caller notes here when the request begins, so its duration ends no later than the request does.
    const signed = headers()
    const elapsed = stopwatch(clock)
    const current = new Exchange(maxBodyBytes, begin)
    const cancelDeadline = startDeadline(() => {
      current.cancel()
      const { status } = current
      const detail = `no complete response within ${Duration.format(timeout)}`
      const facts = { detail, durationMs: elapsed(), ...(status !== undefined && { status }) }
      end(Exit.fail(new PublicHttpFailure({ reason: "timeout", ...facts })))
    })
    current.onEnd = (result) => {
      cancelDeadline()
      end(exitOf(result, elapsed()))
    }
    agent.get().dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: "POST", headers: signed, body },
      current
    )
    return () => {
      cancelDeadline()
      current.cancel()
    }
  }

  return PublicHttp.of({
    post: (request) =>
      Effect.callback<PostResponse, PublicHttpFailure>((resume) => {
        const slot = { account: request.account, host: request.url.hostname }
        let cancelExchange = () => {}
        const cancelWait = slots.acquire(slot, () => {
          const cancel = exchange(request, (exit) => {
            slots.release(slot)
            resume(exit)
          })
          cancelExchange = () => {
            cancel()
            slots.release(slot)
          }
        })
        return Effect.sync(() => {
          cancelWait()
          cancelExchange()
        })
      })
  })
})

/**
 * An HTTP client for URLs from untrusted users. It reaches the public internet only, follows no redirect, and bounds the
 * time and the size of a response.
 */
export class PublicHttp extends Context.Service<PublicHttp, {
  /**
   * Posts the bytes. Any status is a success of this effect. Interruption aborts the request. An invalid URL or header is
   * a defect.
   */
  readonly post: (request: PostRequest) => Effect.Effect<PostResponse, PublicHttpFailure>
}>()("messaging-service/platform/net/PublicHttp") {
  static readonly layer = (options: PublicHttpOptions = {}): Layer.Layer<PublicHttp> =>
    Layer.effect(PublicHttp, make(options))
}
