import { ByteSize, Clock, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { errorResponse } from "../../../platform/http/ApiError.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { PublicHttp, type PublicHttpFailure } from "../../../platform/net/PublicHttp.ts"
import { UpstreamOutages } from "../../../platform/work/UpstreamOutages.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../parts/SmsOutlet.ts"
import { type OutgoingPart, SmsProvider, type SubmitOutcome } from "../parts/SmsProvider.ts"
import { outcomeOf, receiptsOf, requestOf } from "./httpExchange.ts"
import { SmsHttpProfile } from "./HttpProfile.ts"

/** More than any provider's list of receipts needs. */
const maxBody = "256 KiB"

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
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBody)),
      Effect.orElseSucceed(() => "")
    )
    // 204 only once the receipts are committed: without it the provider repeats them.
    yield* Effect.forEach(receiptsOf(profile, text), updates.receipt, { concurrency: "unbounded", discard: true })
    return HttpServerResponse.empty({ status: 204 })
  })

  return [HttpRouter.route("POST", "/v1/callbacks/sms/:provider/:secret", receive)]
})

/** The callback for receipts of the HTTP provider. */
const CallbackHttp = HttpRouter.addAll(routes)

/** The most requests of one node in flight. */
const concurrency = 32

/** Failures after which the provider certainly has not seen the request. */
const unsent: ReadonlySet<PublicHttpFailure["reason"]> = new Set([
  "connection_refused",
  "dns_error",
  "tls_error",
  "blocked_address"
])

const outcomeOfFailure = ({ detail, reason }: PublicHttpFailure): SubmitOutcome =>
  unsent.has(reason)
    ? { _tag: "Unavailable", reason: detail, retryInMillis: 5_000 }
    : { _tag: "Unconfirmed", reason: detail }

/** Milliseconds for which the result of a request counts. While a text waits, the next request comes sooner. */
const freshFor = 30_000

/** Publishes whether this node reaches the provider; `note` follows each request. */
const makeReach = Effect.gen(function*() {
  const { watch } = yield* UpstreamOutages
  const clock = yield* Clock.Clock
  let last: { readonly reach: "works" | "away"; readonly at: number } | undefined
  const now = () => clock.currentTimeMillisUnsafe()
  const current = () => last !== undefined && now() - last.at < freshFor ? last.reach : "unknown"
  yield* watch("carrier", Effect.sync(current))
  return {
    note: (reach: "works" | "away") => {
      last = { reach, at: now() }
    }
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
    const callbackUrl = `${base}/v1/callbacks/sms/${profile.name}/${profile.receipt.secret}`
    return SmsProvider.of({
      name: profile.name,
      takes: "texts",
      concurrency,
      submit: Effect.fn("HttpOutlet.submit")((part: OutgoingPart, { begin }: Lease) => {
        const { headers, ...request } = requestOf(profile, part, callbackUrl)
        return Effect.match(http.post({ ...request, headers: () => headers, begin }), {
          onSuccess: ({ body, status }) => {
            note("works")
            return outcomeOf(profile, { status, text: Buffer.from(body).toString("utf8") })
          },
          onFailure: (failure) => {
            if (unsent.has(failure.reason)) note("away")
            return outcomeOfFailure(failure)
          }
        })
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
