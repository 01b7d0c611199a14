import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { apiErrors } from "./ApiError.ts"
import * as Errors from "./ApiErrors.ts"

const MiB = 1024 * 1024

/** The largest body of an endpoint, in bytes. Endpoints that take mail or media are annotated with {@link large}. */
export const BodyLimit = Context.Reference<number>("messaging-service/platform/http/RequestRules/BodyLimit", {
  defaultValue: () => MiB
})

/** The limit of `/send` and `/send-bulk` in bytes: 500 recipients with their variables, or attachments. */
export const large = 10 * MiB

/**
 * Checks the type, size and depth of each body, explains a request that does not match its schema, and applies
 * `Idempotency-Key` to POST. Every group of endpoints carries it.
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
