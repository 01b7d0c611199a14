import { ByteSize, Clock, Effect, Layer, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { errorResponse } from "../../../platform/http/ApiError.ts"
import { NotFound, PayloadTooLarge } from "../../../platform/http/ApiErrors.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { PublicHttp } from "../../../platform/net/PublicHttp.ts"
import { millisOf } from "../../../platform/schedule/monotonic.ts"
import { UpstreamOutages } from "../../../platform/work/UpstreamOutages.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../parts/SmsOutlet.ts"
import { type OutgoingPart, SmsProvider, type SubmitOutcome } from "../parts/SmsProvider.ts"
import * as BackOff from "./BackOff.ts"
import { outcomeOf, receiptsOf, requestOf } from "./httpExchange.ts"
import { SmsHttpProfile } from "./HttpProfile.ts"

/** More than any provider's list of receipts needs. */
const maxBodyBytes = 256 * 1_024

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Compares in constant time. */
const isSame = (given: string, secret: string) => timingSafeEqual(digest(given), digest(secret))

const routes = Effect.gen(function*() {
  const profile = yield* SmsHttpProfile
  const updates = yield* PartStatusUpdates

  const receive = Effect.gen(function*() {
    const { provider = "", secret = "" } = yield* HttpRouter.params
    const isKnown = isSame(secret, profile.receipt.secret) && provider === profile.name
    if (!isKnown) return yield* errorResponse(new NotFound())
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* request.text.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes)),
      // A client that disconnects interrupts the request, so no other failure is left.
      Effect.option
    )
    if (Option.isNone(text)) return yield* errorResponse(new PayloadTooLarge({ limit_bytes: maxBodyBytes }))
    // 204 only once the receipts are committed: without it the provider repeats them.
    yield* Effect.forEach(receiptsOf(profile, text.value), updates.receipt, { concurrency: "unbounded", discard: true })
    return HttpServerResponse.empty({ status: 204 })
  })

  return [HttpRouter.route("POST", "/v1/callbacks/sms/:provider/:secret", receive)]
})

/** The callback for receipts of the HTTP provider. */
const CallbackHttp = HttpRouter.addAll(routes)

/** The most requests of one node in flight. */
const concurrency = 32

/** Milliseconds for which the result of a request counts. While a text waits, the next request comes sooner. */
const freshFor = 90_000

/** Publishes whether this node reaches the provider; `note` follows each request. */
const makeReach = Effect.gen(function*() {
  const { watch } = yield* UpstreamOutages
  const clock = yield* Clock.Clock
  let last: { readonly reach: "works" | "away"; readonly at: number } | undefined
  const now = () => millisOf(clock)
  const current = () => last !== undefined && now() - last.at < freshFor ? last.reach : "unknown"
  yield* watch("carrier", Effect.sync(current))
  return {
    note: (reach: "works" | "away") => {
      last = { reach, at: now() }
    }
  }
})

/** Spreads the submits of this node to a provider that takes none. */
const makeBackOff = Effect.map(Clock.Clock, (clock) => {
  let state = BackOff.none
  return (outcome: SubmitOutcome): SubmitOutcome => {
    if (outcome._tag === "Accepted") state = BackOff.none
    if (outcome._tag !== "Unavailable") return outcome
    const now = millisOf(clock)
    state = BackOff.failed(state, now, outcome.retryInMillis)
    return { ...outcome, retryInMillis: state.until - now }
  }
})

/** An aggregator with an HTTP API. It gets whole texts and splits them itself. */
const Provider = Layer.effect(
  SmsProvider,
  Effect.gen(function*() {
    const profile = yield* SmsHttpProfile
    const http = yield* PublicHttp
    const { base } = yield* PublicUrl
    const { note } = yield* makeReach
    const backOff = yield* makeBackOff
    const callbackUrl = `${base}/v1/callbacks/sms/${profile.name}/${profile.receipt.secret}`
    return SmsProvider.of({
      name: profile.name,
      takes: "texts",
      concurrency,
      submit: Effect.fn("HttpOutlet.submit")((part: OutgoingPart, lease: Lease) => {
        const { headers, ...request } = requestOf(profile, part, callbackUrl)
        /** Until then no byte of the request has left, so the provider cannot have seen it. */
        let hasBegun = false
        const begin = () => {
          hasBegun = lease.begin()
          return hasBegun
        }
        const submitted = Effect.match(http.post({ ...request, headers: () => headers, begin }), {
          onSuccess: ({ body, status }) => {
            note("works")
            return outcomeOf(profile, { status, text: Buffer.from(body).toString("utf8") })
          },
          onFailure: ({ detail: reason }): SubmitOutcome => {
            if (hasBegun) return { _tag: "Unconfirmed", reason }
            note("away")
            return { _tag: "Unavailable", reason, retryInMillis: 5_000 }
          }
        })
        return Effect.map(submitted, backOff)
      })
    })
  })
)

/** Public addresses only; development may use loopback addresses. */
const Transport = Layer.unwrap(
  Effect.map(
    AppConfig,
    ({ webhookAllowLoopback: allowLoopback }) => PublicHttp.layer({ allowLoopback, timeout: "20 seconds" })
  )
)

/** The aggregator of SMS_HTTP_PROFILE, with the callback for its receipts. */
export const HttpOutlet = Layer.merge(
  SmsOutlet.layerProvider.pipe(Layer.provide(Provider), Layer.provide(Transport)),
  CallbackHttp
).pipe(Layer.provide(SmsHttpProfile.layer))
