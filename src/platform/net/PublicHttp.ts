import { Clock, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import type * as NodeNet from "node:net"
import { Agent } from "undici"
import { FailureReason } from "../../values/FailureReason.ts"
import { isPublicAddress } from "../../values/publicAddress.ts"
import { makeDeadlines } from "./Deadlines.ts"
import { type Answer, type Ending, Exchange } from "./Exchange.ts"
import { describe, failureReason } from "./failureReason.ts"
import { guardedConnector } from "./guardedConnector.ts"
import { HostSlots } from "./HostSlots.ts"
import { resolveName } from "./resolveName.ts"

export interface PublicHttpOptions {
  /** Development: loopback for the names localhost, 127.0.0.1 and ::1 only; false by default. */
  readonly allowLoopback?: boolean
  /** Name servers as `host:port`; the system's by default. */
  readonly dnsServers?: ReadonlyArray<string>
  /** Resolves names instead of DNS; its answers are checked like those of DNS. */
  readonly lookup?: NodeNet.LookupFunction
  /** Which addresses may be reached; the public internet by default. */
  readonly isAllowed?: (address: string) => boolean
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string
  /** Of one request from its name's look-up to the end of its body; 10 seconds by default (spec 6.6). */
  readonly timeout?: Duration.Input
  /** What is read of an answer; 16 KiB by default. */
  readonly maxBodyBytes?: number
  /** Requests under way to one host, on whichever of its ports, over all accounts; 32 by default. */
  readonly connectionsPerHost?: number
  /** Requests under way in all; 512 by default. */
  readonly connections?: number
}

export interface PostRequest {
  readonly url: URL
  /** Asked for when the request begins: until then it may have waited for others to the same host. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** An answer. Only `success` is 2xx; a `redirect` was not followed. */
export interface PostResponse extends Answer {
  readonly kind: "success" | "redirect" | "refusal"
  readonly durationMs: number
}

/** No whole answer came. */
export class PublicHttpFailure extends Schema.TaggedError<PublicHttpFailure>()("PublicHttpFailure", {
  reason: FailureReason,
  /** One sentence for the owner of the URL; it tells no private address. */
  detail: Schema.String,
  /** Of the answer whose body could not be read in full. */
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
  new Agent({
    connect: guardedConnector({
      isAllowed: options.isAllowed ?? isPublicAddress,
      allowLoopback: options.allowLoopback ?? false,
      lookup: options.lookup ?? resolveName(options.dnsServers),
      connectTimeoutMillis: Duration.toMillis(timeout),
      ca: options.ca
    }),
    allowH2: false,
    pipelining: 1,
    // The request's own clock bounds both, and encloses the connection as well.
    headersTimeout: 0,
    bodyTimeout: 0
  })

/** The time since now in milliseconds, to a hundredth. */
const stopwatch = (clock: Clock.Clock) => {
  const start = clock.monotonicTimeNanosUnsafe()
  return () => Number((clock.monotonicTimeNanosUnsafe() - start) / 10_000n) / 100
}

type Ended = Exit.Exit<PostResponse, PublicHttpFailure>

const conclude = (ending: Ending, durationMs: number): Ended => {
  if (ending._tag === "Answered") {
    return Exit.succeed({ ...ending.answer, kind: kindOf(ending.answer.status), durationMs })
  }
  const { error, status } = ending
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
  const withinTime = yield* makeDeadlines(clock, timeout)

  /** One clock over all of it, because a limit on the head alone lets a dripping body hold the request for ever. */
  const exchange = ({ body, headers, url }: PostRequest, end: (exit: Ended) => void) => {
    const elapsed = stopwatch(clock)
    const current = new Exchange(maxBodyBytes)
    const inTime = withinTime(() => {
      current.cancel()
      const { status } = current
      const detail = `no whole answer within ${Duration.format(timeout)}`
      const facts = { detail, durationMs: elapsed(), ...(status !== undefined && { status }) }
      end(Exit.fail(new PublicHttpFailure({ reason: "timeout", ...facts })))
    })
    current.onEnd = (ending) => {
      inTime()
      end(conclude(ending, elapsed()))
    }
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: "POST", headers: headers(), body },
      current
    )
    return () => {
      inTime()
      current.cancel()
    }
  }

  return PublicHttp.of({
    post: (request) =>
      Effect.callback<PostResponse, PublicHttpFailure>((resume) => {
        const host = request.url.hostname
        let giveUp = () => {}
        const withdraw = slots.enter(host, () => {
          const cancel = exchange(request, (exit) => {
            slots.leave(host)
            resume(exit)
          })
          giveUp = () => {
            cancel()
            slots.leave(host)
          }
        })
        return Effect.sync(() => {
          withdraw()
          giveUp()
        })
      })
  })
})

/**
 * HTTP to addresses that strangers name: it reaches the public internet and nothing else, gives no redirect a second
 * address, and neither a slow nor an endless answer holds it.
 */
export class PublicHttp extends Context.Service<PublicHttp, {
  /**
   * Posts the bytes and judges nothing: any status is an answer. Interruption aborts the request. A URL or a header
   * that cannot be sent is a defect.
   */
  readonly post: (request: PostRequest) => Effect.Effect<PostResponse, PublicHttpFailure>
}>()("messaging-service/platform/net/PublicHttp") {
  static readonly layer = (options: PublicHttpOptions = {}): Layer.Layer<PublicHttp> =>
    Layer.effect(PublicHttp, make(options))
}
