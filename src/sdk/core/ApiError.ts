/** One reason of a refused request, with the path of its field. */
export interface FieldError {
  readonly param: string
  readonly type: string
  readonly message: string
}

/** What an error body says, and where it came from. */
export interface ErrorFacts {
  readonly status: number
  readonly type: string
  readonly code: number
  readonly message: string
  readonly param?: string | undefined
  readonly errors?: ReadonlyArray<FieldError> | undefined
  readonly doc_url?: string | undefined
  readonly retry_after?: number | undefined
  readonly request_id?: string | undefined
  readonly headers: Headers
  /** All fields of the error, also those that this version does not know. */
  readonly body: { readonly [field: string]: unknown }
}

/** Every failure that this package reports, except an abort by the caller's signal. */
export class MessagingError extends Error {
  override readonly name: string = "MessagingError"
}

/** No answer came: the service was not reached, or the connection broke. */
export class ConnectionError extends MessagingError {
  override readonly name: string = "ConnectionError"
}

/** No answer came in time. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError"
}

/** Why a webhook's request is not accepted. */
export type WebhookRejection =
  | "headers_missing"
  | "secret_invalid"
  | "signature_mismatch"
  | "timestamp_outside_tolerance"

/** The request does not come from the service, or is too old. Answer it with 400. */
export class WebhookVerificationError extends MessagingError {
  override readonly name: string = "WebhookVerificationError"
  readonly reason: WebhookRejection

  constructor(reason: WebhookRejection, message: string) {
    super(message)
    this.reason = reason
  }
}

/** The service refused the request. Subclasses stand for families of statuses and for single types. */
export class ApiError extends MessagingError {
  readonly status: number
  readonly type: string
  readonly code: number
  /** The first field at fault, such as `recipients[3].to`. */
  readonly param: string | undefined
  /** Every field at fault. */
  readonly errors: ReadonlyArray<FieldError>
  /** The guide's section about this type. */
  readonly doc_url: string | undefined
  /** Seconds after which the request may succeed. */
  readonly retry_after: number | undefined
  /** The request's id in the service's log. */
  readonly request_id: string | undefined
  /** Not shown when the error is printed. */
  declare readonly headers: Headers
  /** All fields of the error, also those that this version does not know. Not shown when the error is printed. */
  declare readonly body: { readonly [field: string]: unknown }

  constructor(facts: ErrorFacts) {
    super(facts.message)
    // A minifier renames classes, so the name is the type.
    Object.defineProperties(this, {
      name: { value: `ApiError ${facts.type}` },
      headers: { value: facts.headers },
      body: { value: facts.body }
    })
    this.status = facts.status
    this.type = facts.type
    this.code = facts.code
    this.param = facts.param
    this.errors = facts.errors ?? []
    this.doc_url = facts.doc_url
    this.retry_after = facts.retry_after
    this.request_id = facts.request_id
    for (const [field, value] of Object.entries(facts.body)) {
      if (!(field in this)) Object.defineProperty(this, field, { value, enumerable: true })
    }
  }
}

/** 400, 413, 415 and 422: the request itself is wrong. */
export class InvalidRequestError extends ApiError {}

/** 401: no key, or one that is not valid. */
export class AuthenticationError extends ApiError {}

/** 402: the plan or its quota does not cover the request. */
export class PaymentRequiredError extends ApiError {}

/** 403: the key may not do this. */
export class PermissionDeniedError extends ApiError {}

/** 404: not there, or of another account. */
export class NotFoundError extends ApiError {}

/** 409: the state does not allow it. */
export class ConflictError extends ApiError {}

/** 410: it was there, and is no more. */
export class GoneError extends ApiError {}

/** 429: too many requests, or too many codes. */
export class RateLimitError extends ApiError {}

/** 500 and above: the service, or a proxy in front of it, failed. */
export class ServerError extends ApiError {}

/** A subclass of {@link ApiError}. */
export type ApiErrorClass = new(facts: ErrorFacts) => ApiError

const families: { readonly [status: number]: ApiErrorClass } = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError
}

/** The class for a status whose error type has none. */
export const familyOf = (status: number): ApiErrorClass => families[status] ?? (status >= 500 ? ServerError : ApiError)
