import { Schema } from "effect"
import { pluralize } from "../../values/messageText.ts"
import { wire } from "./ApiError.ts"

/** The errors that any endpoint can return. Errors of one domain are in its `*Errors.ts`. */

export class InvalidJson extends Schema.TaggedError<InvalidJson>()(
  "InvalidJson",
  {},
  wire(400, "invalid_json", 4000)
) {
  override get message() {
    return "The body is not valid JSON. Send one JSON object in UTF-8, nested at most 32 levels deep."
  }
}

/** One broken rule of a request. */
export const Violation = Schema.Struct({ param: Schema.String, type: Schema.String, message: Schema.String })
export type Violation = typeof Violation.Type

export class ValidationFailed extends Schema.TaggedError<ValidationFailed>()(
  "ValidationFailed",
  { param: Schema.String, errors: Schema.Array(Violation) },
  wire(422, "validation_error", 4220)
) {
  /** The violation of one named parameter. */
  static of(param: string, message: string, type = "invalid") {
    return new ValidationFailed({ param, errors: [{ param, type, message }] })
  }

  override get message() {
    const [first] = this.errors
    const more = this.errors.length > 1 ? ` (and ${this.errors.length - 1} more, see errors)` : ""
    if (first === undefined) return "The request is not valid."
    const sentence = `${first.param === "" ? "The body" : `${first.param}:`} ${first.message}${more}`
    return sentence.endsWith("?") ? sentence : `${sentence}.`
  }
}

/** Places of a key that the service does not read, and what the error says of them. */
const misplaced = {
  "x-api-key": "The header X-API-Key is not read. ",
  authorization: "The header Authorization lacks the word Bearer before the key. ",
  query: "A key in the URL is not read, because URLs are logged: revoke it. "
} as const

export class MissingApiKey extends Schema.TaggedError<MissingApiKey>()(
  "MissingApiKey",
  { found_in: Schema.optionalKey(Schema.Literals(["x-api-key", "authorization", "query"])) },
  wire(401, "missing_api_key", 4010)
) {
  override get message() {
    const hint = this.found_in === undefined ? "" : misplaced[this.found_in]
    return `${hint}Send your API key in the header Authorization: Bearer <API_KEY>.`
  }
}

export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()(
  "InvalidApiKey",
  {},
  wire(401, "invalid_api_key", 4011)
) {
  override get message() {
    return "This API key is unknown. Check that you copied all of it."
  }
}

export class RevokedApiKey extends Schema.TaggedError<RevokedApiKey>()(
  "RevokedApiKey",
  {},
  wire(401, "revoked_api_key", 4012)
) {
  override get message() {
    return "This API key was revoked. Use another key."
  }
}

export class ExpiredApiKey extends Schema.TaggedError<ExpiredApiKey>()(
  "ExpiredApiKey",
  {},
  wire(401, "expired_api_key", 4013)
) {
  override get message() {
    return "This API key has expired. Create a new one."
  }
}

export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()(
  "InsufficientScope",
  { required: Schema.Array(Schema.String) },
  wire(403, "insufficient_scope", 4030)
) {
  override get message() {
    return this.required.length === 0
      ? "This endpoint needs a key without scopes."
      : `This endpoint needs a key with the scope ${this.required.join(" or ")}.`
  }
}

/** What a key needs that creates one without limits. */
export const everyPermission = "all permissions"

export class InsufficientPermission extends Schema.TaggedError<InsufficientPermission>()(
  "InsufficientPermission",
  { required: Schema.String },
  wire(403, "insufficient_permission", 4031)
) {
  override get message() {
    return this.required === everyPermission
      ? `This endpoint needs a key with ${everyPermission}, or current_password.`
      : `This endpoint needs a key with the permission ${this.required}.`
  }
}

export class LiveKeyRequired extends Schema.TaggedError<LiveKeyRequired>()(
  "LiveKeyRequired",
  {},
  wire(403, "live_key_required", 4310)
) {
  override get message() {
    return "A test key cannot do this. Use a live key, or log in."
  }
}

export class TestKeyRequired extends Schema.TaggedError<TestKeyRequired>()(
  "TestKeyRequired",
  {},
  wire(403, "test_key_required", 4311)
) {
  override get message() {
    return "This endpoint is for test keys. Create a test key with POST /v1/api-keys and mode: test, and use it."
  }
}

export class AddressUnconfirmed extends Schema.TaggedError<AddressUnconfirmed>()(
  "AddressUnconfirmed",
  {},
  wire(403, "address_unconfirmed", 4038)
) {
  override get message() {
    return "The email address of this account is not confirmed. Open the link in the mail that was sent to it, or request another mail with POST /v1/auth/confirmation."
  }
}

export class SubscriptionRequired extends Schema.TaggedError<SubscriptionRequired>()(
  "SubscriptionRequired",
  {},
  wire(402, "subscription_required", 4023)
) {
  override get message() {
    return "The free trial does not include this. Ask the operator for a plan."
  }
}

export class SubscriptionExpired extends Schema.TaggedError<SubscriptionExpired>()(
  "SubscriptionExpired",
  {},
  wire(402, "subscription_expired", 4024)
) {
  override get message() {
    return "The free trial has ended. Ask the operator for a plan to send again; reading still works."
  }
}

/** Singular and plural of each limited resource. */
const limited = {
  api_keys: ["API key", "API keys"],
  whatsapp_sessions: ["WhatsApp session", "WhatsApp sessions"],
  webhooks: ["webhook", "webhooks"],
  email_domains: ["sending domain", "sending domains"],
  templates: ["template", "templates"],
  sms: ["SMS", "SMS"],
  otp: ["one-time code", "one-time codes"]
} as const

/** What an account has at a time, as far as its plan and the settings limit it. */
const Capacity = Schema.Literals(["whatsapp_sessions", "webhooks", "email_domains", "templates"])
export type Capacity = typeof Capacity.Type

export class PlanLimitExceeded extends Schema.TaggedError<PlanLimitExceeded>()(
  "PlanLimitExceeded",
  {
    limit: Schema.Int,
    current: Schema.Int,
    resource: Schema.Literals(["api_keys", ...Capacity.literals, "sms", "otp"]),
    per: Schema.optionalKey(Schema.Literals(["month", "day"]))
  },
  wire(402, "plan_limit_exceeded", 4022)
) {
  override get message() {
    const [one, several] = limited[this.resource]
    if (this.per === "day") {
      const used = pluralize(this.current, "is used", "are used")
      return `Test keys may send ${pluralize(this.limit, one, several)} a day and ${used}. Wait for the next day (UTC).`
    }
    const allows = `Your plan allows ${pluralize(this.limit, one, several)}`
    if (this.per === "month") {
      const used = pluralize(this.current, "is used", "are used")
      return `${allows} a month and ${used}. Ask the operator for a larger plan, or wait for the next month (UTC).`
    }
    return `${allows} and you have ${this.current}. Ask the operator for a larger plan${
      this.current === 0 ? "" : ", or remove one"
    }.`
  }
}

/**
 * The same answer for an unknown id, a deleted one, a malformed one and one of another account, so that it reveals nothing
 * about other accounts. `param` names the field of the body with the id; it is absent when the id is in the path.
 */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NotFound",
  {
    param: Schema.optionalKey(Schema.String),
    did_you_mean: Schema.optionalKey(
      Schema.String.annotate({ description: "The path of the API that is closest to an unknown one" })
    )
  },
  wire(404, "not_found", 4040)
) {
  override get message() {
    if (this.did_you_mean !== undefined) return `Not found. Did you mean ${this.did_you_mean}?`
    return this.param === undefined
      ? "Not found. Check the path and the id."
      : `${this.param}: not found in this account. Check the id.`
  }
}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()(
  "MethodNotAllowed",
  { allow: Schema.Array(Schema.String) },
  wire(405, "method_not_allowed", 4050)
) {
  override get message() {
    return `Method not allowed; use ${this.allow.join(", ")}.`
  }
}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()(
  "PayloadTooLarge",
  { limit_bytes: Schema.Int },
  wire(413, "payload_too_large", 4130)
) {
  override get message() {
    return `The body is larger than ${this.limit_bytes} bytes. Send less in one request.`
  }
}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  {},
  wire(415, "unsupported_media_type", 4150)
) {
  override get message() {
    return "Send the body as Content-Type: application/json in UTF-8, without Content-Encoding."
  }
}

export class RateLimitExceeded extends Schema.TaggedError<RateLimitExceeded>()(
  "RateLimitExceeded",
  { limit: Schema.Int, retry_after: Schema.Int, per: Schema.optionalKey(Schema.Literal("hour")) },
  wire(429, "rate_limit_exceeded", 4029)
) {
  override get message() {
    const wait = pluralize(this.retry_after, "second")
    return `The limit of ${pluralize(this.limit, "request")} per ${
      this.per ?? "minute"
    } is reached. Try again in ${wait}.`
  }
}

export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "IdempotencyKeyReused",
  {},
  wire(409, "idempotency_key_reused", 4094)
) {
  override get message() {
    return "This Idempotency-Key was used with another body. Use a new key for a new request."
  }
}

export class IdempotencyInProgress extends Schema.TaggedError<IdempotencyInProgress>()(
  "IdempotencyInProgress",
  {},
  wire(409, "idempotency_in_progress", 4095)
) {
  override get message() {
    return "The first request with this Idempotency-Key is still running. Try again in a second."
  }
}

export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()(
  "ServiceUnavailable",
  {},
  wire(503, "service_unavailable", 5030)
) {
  override get message() {
    return "The service cannot take requests right now. Try again in a few seconds."
  }
}

export class DailyVolumeExceeded extends Schema.TaggedError<DailyVolumeExceeded>()(
  "DailyVolumeExceeded",
  { limit_bytes: Schema.Int, retry_after: Schema.Int },
  wire(429, "daily_volume_exceeded", 4294)
) {
  override get message() {
    return `The account's large requests of this day (UTC) would exceed ${this.limit_bytes} bytes. Send smaller ones, or try again tomorrow.`
  }
}

export class StorageLow extends Schema.TaggedError<StorageLow>()(
  "StorageLow",
  { retry_after: Schema.Int },
  wire(503, "storage_low", 5033)
) {
  override get message() {
    return "The service is short of storage and accepts no messages now. What was accepted is sent. Try again in a minute."
  }
}

export class InternalError extends Schema.TaggedError<InternalError>()(
  "InternalError",
  {},
  wire(500, "internal_error", 5000)
) {
  override get message() {
    return "The service failed to handle the request. Include the request_id when you report it."
  }
}

/** For refusals of the HTTP server itself, such as 408 for a slow client or 431 for a huge header. */
export class RequestRefused extends Schema.TaggedError<RequestRefused>()(
  "RequestRefused",
  {},
  wire(400, "bad_request", 4001)
) {
  override get message() {
    return "The request could not be read. Send valid HTTP/1.1 with a Host and at most 16 KiB of headers, without pauses."
  }
}
