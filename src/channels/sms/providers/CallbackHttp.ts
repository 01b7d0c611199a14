import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, timingSafeEqual } from "node:crypto"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { errorResponse } from "../../../platform/http/errorResponse.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { receiptsOf } from "./httpExchange.ts"
import { SmsHttpProfile } from "./HttpSmsProvider.ts"

/** Larger than any provider's list of receipts. */
const limit = "256 KiB"

const digest = (text: string) => createHash("sha256").update(text).digest()

/** In a time that tells nothing of where they differ. */
const isSame = (given: string, secret: string) => timingSafeEqual(digest(given), digest(secret))

const routes = Effect.gen(function*() {
  const profile = yield* SmsHttpProfile
  const news = yield* PartStatusUpdates

  const take = Effect.gen(function*() {
    const { provider = "", secret = "" } = yield* HttpRouter.params
    const known = isSame(secret, profile.receipt.secret) && provider === profile.name
    if (!known) return yield* errorResponse(new NotFound())
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* request.text.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limit)),
      Effect.orElseSucceed(() => "")
    )
    // 204 only once it is written down: a provider that gets none comes again.
    yield* Effect.forEach(receiptsOf(profile, text), news.receipt, { concurrency: "unbounded", discard: true })
    return HttpServerResponse.empty({ status: 204 })
  })

  return [HttpRouter.route("POST", "/v1/callbacks/sms/:provider/:secret", take)]
})

/** Where the HTTP provider tells what became of messages. */
export const CallbackHttp = HttpRouter.addAll(routes)
