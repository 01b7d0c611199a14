import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { errorResponse } from "../../../platform/http/ApiError.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { receiptsOf } from "./httpExchange.ts"
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
export const CallbackHttp = HttpRouter.addAll(routes)
