import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { AccountId, ApiKeyId, LoginSessionId } from "../../values/Ids.ts"
import type { Permission, Scope } from "../../values/Permission.ts"
import type { Plan } from "../../values/Plan.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import { apiErrors } from "./ApiError.ts"
import * as Errors from "./ApiErrors.ts"

/** The authenticated caller of a request. */
export class Principal extends Context.Service<Principal, {
  readonly accountId: AccountId
  /** The API key of the request; `undefined` for a login session. */
  readonly keyId: ApiKeyId | undefined
  /** The login session of the request; `undefined` for an API key. */
  readonly sessionId: LoginSessionId | undefined
  /** The end of the key or login session; null for a key without one. */
  readonly expiresAt: Timestamp | null
  /** A login session of the last 15 minutes: its owner has just proved their password. */
  readonly isFreshLogin: boolean
  readonly scopes: ReadonlyArray<Scope>
  readonly permissions: ReadonlyArray<Permission>
  readonly plan: Plan
  /** The account may not send yet: its owner has to confirm the email address. */
  readonly awaitsConfirmation: boolean
  /** `none`: the account has a paid plan. */
  readonly trial: "none" | "running" | "over"
}>()("messaging-service/platform/http/Authentication/Principal") {}

/**
 * Bearer authentication (spec 5), then the rate limit, then the endpoint's `Access`: 401, 429, 403, 402 in that order.
 * A port: `api-keys` implements it.
 */
export class Authentication
  extends HttpApiMiddleware.Service<Authentication, { provides: Principal; requires: never }>()(
    "messaging-service/platform/http/Authentication",
    {
      requiredForClient: true,
      security: { bearer: HttpApiSecurity.bearer },
      error: apiErrors(
        Errors.MissingApiKey,
        Errors.InvalidApiKey,
        Errors.RevokedApiKey,
        Errors.ExpiredApiKey,
        Errors.RateLimitExceeded,
        Errors.InsufficientScope,
        Errors.InsufficientPermission,
        Errors.AddressUnconfirmed,
        Errors.SubscriptionRequired,
        Errors.SubscriptionExpired
      )
    }
  )
{}
