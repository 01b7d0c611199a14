import { HttpApiMiddleware } from "effect/http-api"
import { apiErrors } from "./ApiError.ts"
import * as Errors from "./ApiErrors.ts"

/**
 * What holds for every endpoint: the body's type, size and depth, the answer to a request that does not fit its
 * schema, and `Idempotency-Key` on POST. Each group of endpoints carries it.
 */
export class RequestRules extends HttpApiMiddleware.Service<RequestRules>()(
  "messaging-service/platform/http/RequestRules",
  {
    error: apiErrors(
      Errors.InvalidJson,
      Errors.ValidationFailed,
      Errors.NotFound,
      Errors.PayloadTooLarge,
      Errors.UnsupportedMediaType,
      Errors.IdempotencyKeyReused,
      Errors.IdempotencyInProgress,
      Errors.InternalError,
      Errors.ServiceUnavailable
    )
  }
) {}
