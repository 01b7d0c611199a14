import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { apiErrors } from "./ApiError.ts"
import * as Errors from "./ApiErrors.ts"

const KiB = 1024
const MiB = 1024 * KiB

/** How large the body of an endpoint may be. */
export interface BodyLimits {
  readonly bytes: number
  /** Values of the JSON text. Validation takes up to 25 microseconds per value. */
  readonly values: number
}

/** Enough for a template's variables, each with a value. */
const fewValues = 2000

/** Enough for 500 recipients with nearly 200 variables each. */
const manyValues = 100_000

/** The limits of most endpoints, and of all that need no key. */
export const small: BodyLimits = { bytes: 16 * KiB, values: fewValues }

/** The limits of texts without attachments. */
export const texts: BodyLimits = { bytes: MiB, values: fewValues }

/** The limits of messages with attachments. */
export const files: BodyLimits = { bytes: 10 * MiB, values: fewValues }

/** The limits of one short text for many recipients. */
export const bulk: BodyLimits = { bytes: MiB, values: manyValues }

/** The limits of one mail for many recipients. */
export const bulkMail: BodyLimits = { bytes: 10 * MiB, values: manyValues }

/** The limits of an endpoint's body. */
export const BodyLimit = Context.Reference<BodyLimits>("messaging-service/platform/http/RequestRules/BodyLimit", {
  defaultValue: () => small
})

/**
 * Whether an endpoint waits for something other than the database: WhatsApp, name servers, a webhook. With an
 * `Idempotency-Key` it then runs under a claim instead of in a transaction, which would hold a connection meanwhile.
 */
export const WaitsOutside = Context.Reference<boolean>("messaging-service/platform/http/RequestRules/WaitsOutside", {
  defaultValue: () => false
})

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
      Errors.RateLimitExceeded,
      Errors.IdempotencyKeyReused,
      Errors.IdempotencyInProgress,
      Errors.InternalError,
      Errors.ServiceUnavailable,
      Errors.StorageLow,
      Errors.DailyVolumeExceeded
    )
  }
) {}
