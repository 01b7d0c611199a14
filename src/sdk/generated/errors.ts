// Generated from docs/openapi.json by `node scripts/openapi.ts`. Do not edit.

import { type ApiErrorClass, AuthenticationError, ConflictError, GoneError, InvalidRequestError, NotFoundError, PaymentRequiredError, PermissionDeniedError, RateLimitError, ServerError } from "../core/ApiError.ts"

/** 403 `address_unconfirmed`. */
export class AddressUnconfirmedError extends PermissionDeniedError {
  declare readonly type: "address_unconfirmed"
}

/** 503 `channel_unavailable`. */
export class ChannelUnavailableError extends ServerError {
  declare readonly type: "channel_unavailable"
  declare readonly channel: "sms" | "whatsapp" | "email"
}

/** 409 `complaint_not_removable`. */
export class ComplaintNotRemovableError extends ConflictError {
  declare readonly type: "complaint_not_removable"
}

/** 403 `country_not_allowed`. */
export class CountryNotAllowedError extends PermissionDeniedError {
  declare readonly type: "country_not_allowed"
  declare readonly country: string | null
}

/** 429 `daily_volume_exceeded`. */
export class DailyVolumeExceededError extends RateLimitError {
  declare readonly type: "daily_volume_exceeded"
  declare readonly limit_bytes: number
}

/** 409 `domain_already_exists`. */
export class DomainAlreadyExistsError extends ConflictError {
  declare readonly type: "domain_already_exists"
  declare readonly domain: string
}

/** 429 `email_change_limit`. */
export class EmailChangeLimitError extends RateLimitError {
  declare readonly type: "email_change_limit"
  declare readonly limit: number
}

/** 402 `email_quota_exceeded`. */
export class EmailQuotaExceededError extends PaymentRequiredError {
  declare readonly type: "email_quota_exceeded"
  declare readonly limit: number
  declare readonly current: number
  declare readonly resource: "emails"
  declare readonly per?: "day"
}

/** 409 `email_taken`. */
export class EmailTakenError extends ConflictError {
  declare readonly type: "email_taken"
}

/** 410 `event_expired`. */
export class EventExpiredError extends GoneError {
  declare readonly type: "event_expired"
}

/** 401 `expired_api_key`. */
export class ExpiredApiKeyError extends AuthenticationError {
  declare readonly type: "expired_api_key"
}

/** 409 `fault_limit`. */
export class FaultLimitReachedError extends ConflictError {
  declare readonly type: "fault_limit"
  declare readonly limit: number
}

/** 403 `fresh_login_required`. */
export class FreshLoginRequiredError extends PermissionDeniedError {
  declare readonly type: "fresh_login_required"
  declare readonly expires_at: string
}

/** 409 `idempotency_in_progress`. */
export class IdempotencyInProgressError extends ConflictError {
  declare readonly type: "idempotency_in_progress"
}

/** 409 `idempotency_key_reused`. */
export class IdempotencyKeyReusedError extends ConflictError {
  declare readonly type: "idempotency_key_reused"
}

/** 403 `insufficient_permission`. */
export class InsufficientPermissionError extends PermissionDeniedError {
  declare readonly type: "insufficient_permission"
  declare readonly required: string
}

/** 403 `insufficient_scope`. */
export class InsufficientScopeError extends PermissionDeniedError {
  declare readonly type: "insufficient_scope"
  declare readonly required: ReadonlyArray<string>
}

/** 500 `internal_error`. */
export class InternalError extends ServerError {
  declare readonly type: "internal_error"
}

/** 401 `invalid_api_key`. */
export class InvalidApiKeyError extends AuthenticationError {
  declare readonly type: "invalid_api_key"
}

/** 401 `invalid_credentials`. */
export class InvalidCredentialsError extends AuthenticationError {
  declare readonly type: "invalid_credentials"
}

/** 422 `invalid_from_domain`. */
export class SenderNotVerifiedError extends InvalidRequestError {
  declare readonly type: "invalid_from_domain"
  declare readonly domain: string
}

/** 400 `invalid_json`. */
export class InvalidJsonError extends InvalidRequestError {
  declare readonly type: "invalid_json"
}

/** 429 `key_maker_busy`. */
export class KeyMakerBusyError extends RateLimitError {
  declare readonly type: "key_maker_busy"
}

/** 409 `key_not_rotatable`. */
export class KeyNotRotatableError extends ConflictError {
  declare readonly type: "key_not_rotatable"
  declare readonly reason: "rotated" | "expired"
}

/** 403 `key_outlives_caller`. */
export class KeyOutlivesCallerError extends PermissionDeniedError {
  declare readonly type: "key_outlives_caller"
  declare readonly expires_at: string
}

/** 403 `live_key_required`. */
export class LiveKeyRequiredError extends PermissionDeniedError {
  declare readonly type: "live_key_required"
}

/** 429 `login_paused`. */
export class LoginPausedError extends RateLimitError {
  declare readonly type: "login_paused"
}

/** 429 `max_attempts_exceeded`. */
export class MaxAttemptsExceededError extends RateLimitError {
  declare readonly type: "max_attempts_exceeded"
  declare readonly limit: number
}

/** 410 `media_gone`. */
export class MediaGoneError extends GoneError {
  declare readonly type: "media_gone"
}

/** 409 `message_over`. */
export class MessageOverError extends ConflictError {
  declare readonly type: "message_over"
}

/** 401 `missing_api_key`. */
export class MissingApiKeyError extends AuthenticationError {
  declare readonly type: "missing_api_key"
  declare readonly found_in?: "x-api-key" | "authorization" | "query"
}

/** 403 `not_group_admin`. */
export class NotGroupAdminError extends PermissionDeniedError {
  declare readonly type: "not_group_admin"
}

/** 429 `otp_limit`. */
export class OtpLimitReachedError extends RateLimitError {
  declare readonly type: "otp_limit"
  declare readonly reason: "resend_cool_down" | "recipient_hour" | "recipient_day" | "all_accounts_hour" | "all_accounts_day" | "client_ip_hour" | "prefix_hour"
  declare readonly limit: number
}

/** 503 `pairing_unavailable`. */
export class PairingUnavailableError extends ServerError {
  declare readonly type: "pairing_unavailable"
  declare readonly reason?: "console_off"
}

/** 413 `payload_too_large`. */
export class PayloadTooLargeError extends InvalidRequestError {
  declare readonly type: "payload_too_large"
  declare readonly limit_bytes: number
}

/** 402 `plan_limit_exceeded`. */
export class PlanLimitExceededError extends PaymentRequiredError {
  declare readonly type: "plan_limit_exceeded"
  declare readonly limit: number
  declare readonly current: number
  declare readonly resource: "api_keys" | "whatsapp_sessions" | "webhooks" | "email_domains" | "templates" | "sms" | "otp"
  declare readonly per?: "month" | "day"
}

/** 429 `rate_limit_exceeded`. */
export class RateLimitExceededError extends RateLimitError {
  declare readonly type: "rate_limit_exceeded"
  declare readonly limit: number
  declare readonly per?: "hour"
}

/** 409 `recovery_ended`. */
export class RecoveryEndedError extends ConflictError {
  declare readonly type: "recovery_ended"
}

/** 409 `recovery_in_progress`. */
export class RecoveryInProgressError extends ConflictError {
  declare readonly type: "recovery_in_progress"
  declare readonly recovery_id: number
}

/** 403 `registration_closed`. */
export class RegistrationClosedError extends PermissionDeniedError {
  declare readonly type: "registration_closed"
}

/** 401 `revoked_api_key`. */
export class RevokedApiKeyError extends AuthenticationError {
  declare readonly type: "revoked_api_key"
}

/** 404 `sandbox_closed`. */
export class SandboxClosedError extends NotFoundError {
  declare readonly type: "sandbox_closed"
}

/** 401 `second_factor_required`. */
export class SecondFactorRequiredError extends AuthenticationError {
  declare readonly type: "second_factor_required"
}

/** 503 `service_unavailable`. */
export class ServiceUnavailableError extends ServerError {
  declare readonly type: "service_unavailable"
}

/** 409 `session_already_connected`. */
export class SessionAlreadyConnectedError extends ConflictError {
  declare readonly type: "session_already_connected"
}

/** 409 `session_not_connected`. */
export class SessionNotConnectedError extends ConflictError {
  declare readonly type: "session_not_connected"
  declare readonly session_status: "pending" | "connected" | "disconnected" | "failed"
}

/** 410 `source_gone`. */
export class SourceGoneError extends GoneError {
  declare readonly type: "source_gone"
}

/** 503 `storage_low`. */
export class StorageLowError extends ServerError {
  declare readonly type: "storage_low"
}

/** 402 `subscription_expired`. */
export class SubscriptionExpiredError extends PaymentRequiredError {
  declare readonly type: "subscription_expired"
}

/** 402 `subscription_required`. */
export class SubscriptionRequiredError extends PaymentRequiredError {
  declare readonly type: "subscription_required"
}

/** 403 `test_key_required`. */
export class TestKeyRequiredError extends PermissionDeniedError {
  declare readonly type: "test_key_required"
}

/** 410 `token_expired`. */
export class TokenExpiredError extends GoneError {
  declare readonly type: "token_expired"
}

/** 422 `unsupported_destination`. */
export class UnsupportedDestinationError extends InvalidRequestError {
  declare readonly type: "unsupported_destination"
  declare readonly country: string | null
}

/** 415 `unsupported_media_type`. */
export class UnsupportedMediaTypeError extends InvalidRequestError {
  declare readonly type: "unsupported_media_type"
}

/** 422 `validation_error`. */
export class ValidationFailedError extends InvalidRequestError {
  declare readonly type: "validation_error"
}

/** 403 `verification_blocked`. */
export class VerificationBlockedError extends PermissionDeniedError {
  declare readonly type: "verification_blocked"
}

/** 410 `verification_expired`. */
export class VerificationExpiredError extends GoneError {
  declare readonly type: "verification_expired"
}

/** 404 `verification_not_found`. */
export class VerificationNotFoundError extends NotFoundError {
  declare readonly type: "verification_not_found"
}

/** 409 `webhook_not_active`. */
export class WebhookNotActiveError extends ConflictError {
  declare readonly type: "webhook_not_active"
}

/** The types of errors that this version knows. */
export type ErrorType =
  | "address_unconfirmed"
  | "channel_unavailable"
  | "complaint_not_removable"
  | "country_not_allowed"
  | "daily_volume_exceeded"
  | "domain_already_exists"
  | "email_change_limit"
  | "email_quota_exceeded"
  | "email_taken"
  | "event_expired"
  | "expired_api_key"
  | "fault_limit"
  | "fresh_login_required"
  | "idempotency_in_progress"
  | "idempotency_key_reused"
  | "insufficient_permission"
  | "insufficient_scope"
  | "internal_error"
  | "invalid_api_key"
  | "invalid_credentials"
  | "invalid_from_domain"
  | "invalid_json"
  | "key_maker_busy"
  | "key_not_rotatable"
  | "key_outlives_caller"
  | "live_key_required"
  | "login_paused"
  | "max_attempts_exceeded"
  | "media_gone"
  | "message_over"
  | "missing_api_key"
  | "not_found"
  | "not_group_admin"
  | "otp_limit"
  | "pairing_unavailable"
  | "payload_too_large"
  | "plan_limit_exceeded"
  | "rate_limit_exceeded"
  | "recovery_ended"
  | "recovery_in_progress"
  | "registration_closed"
  | "revoked_api_key"
  | "sandbox_closed"
  | "second_factor_required"
  | "service_unavailable"
  | "session_already_connected"
  | "session_not_connected"
  | "source_gone"
  | "storage_low"
  | "subscription_expired"
  | "subscription_required"
  | "test_key_required"
  | "token_expired"
  | "unsupported_destination"
  | "unsupported_media_type"
  | "validation_error"
  | "verification_blocked"
  | "verification_expired"
  | "verification_not_found"
  | "webhook_not_active"

/** The class of each type. */
export const errorClasses: { readonly [type: string]: ApiErrorClass } = {
  address_unconfirmed: AddressUnconfirmedError,
  channel_unavailable: ChannelUnavailableError,
  complaint_not_removable: ComplaintNotRemovableError,
  country_not_allowed: CountryNotAllowedError,
  daily_volume_exceeded: DailyVolumeExceededError,
  domain_already_exists: DomainAlreadyExistsError,
  email_change_limit: EmailChangeLimitError,
  email_quota_exceeded: EmailQuotaExceededError,
  email_taken: EmailTakenError,
  event_expired: EventExpiredError,
  expired_api_key: ExpiredApiKeyError,
  fault_limit: FaultLimitReachedError,
  fresh_login_required: FreshLoginRequiredError,
  idempotency_in_progress: IdempotencyInProgressError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  insufficient_permission: InsufficientPermissionError,
  insufficient_scope: InsufficientScopeError,
  internal_error: InternalError,
  invalid_api_key: InvalidApiKeyError,
  invalid_credentials: InvalidCredentialsError,
  invalid_from_domain: SenderNotVerifiedError,
  invalid_json: InvalidJsonError,
  key_maker_busy: KeyMakerBusyError,
  key_not_rotatable: KeyNotRotatableError,
  key_outlives_caller: KeyOutlivesCallerError,
  live_key_required: LiveKeyRequiredError,
  login_paused: LoginPausedError,
  max_attempts_exceeded: MaxAttemptsExceededError,
  media_gone: MediaGoneError,
  message_over: MessageOverError,
  missing_api_key: MissingApiKeyError,
  not_found: NotFoundError,
  not_group_admin: NotGroupAdminError,
  otp_limit: OtpLimitReachedError,
  pairing_unavailable: PairingUnavailableError,
  payload_too_large: PayloadTooLargeError,
  plan_limit_exceeded: PlanLimitExceededError,
  rate_limit_exceeded: RateLimitExceededError,
  recovery_ended: RecoveryEndedError,
  recovery_in_progress: RecoveryInProgressError,
  registration_closed: RegistrationClosedError,
  revoked_api_key: RevokedApiKeyError,
  sandbox_closed: SandboxClosedError,
  second_factor_required: SecondFactorRequiredError,
  service_unavailable: ServiceUnavailableError,
  session_already_connected: SessionAlreadyConnectedError,
  session_not_connected: SessionNotConnectedError,
  source_gone: SourceGoneError,
  storage_low: StorageLowError,
  subscription_expired: SubscriptionExpiredError,
  subscription_required: SubscriptionRequiredError,
  test_key_required: TestKeyRequiredError,
  token_expired: TokenExpiredError,
  unsupported_destination: UnsupportedDestinationError,
  unsupported_media_type: UnsupportedMediaTypeError,
  validation_error: ValidationFailedError,
  verification_blocked: VerificationBlockedError,
  verification_expired: VerificationExpiredError,
  verification_not_found: VerificationNotFoundError,
  webhook_not_active: WebhookNotActiveError
}
