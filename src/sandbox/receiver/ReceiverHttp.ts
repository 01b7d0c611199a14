import { ByteSize, Effect, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { receiverPath, SandboxReceivers } from "../../webhooks/endpoint/SandboxReceiver.ts"

/** More than the largest event. */
const maxBody = "1 MiB"

/** Reads the body of a known receiver and throws it away: the webhook's deliveries show it. */
const routes = Effect.gen(function*() {
  const { statusFor } = yield* SandboxReceivers

  const receive = Effect.gen(function*() {
    const { secret = "" } = yield* HttpRouter.params
    const status = yield* statusFor(secret)
    if (Option.isNone(status)) return yield* errorResponse(new NotFound())
    const request = yield* HttpServerRequest.HttpServerRequest
    const isRead = yield* request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBody)),
      Effect.as(true),
      Effect.orElseSucceed(() => false)
    )
    return HttpServerResponse.empty({ status: isRead ? status.value : 413 })
  })

  return [HttpRouter.route("POST", `${receiverPath}/:secret`, receive)]
})

/** The address to which webhooks post. */
export const ReceiverHttp = HttpRouter.addAll(routes)
