import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { AccountId, ApiKeyId, LoginSessionId, PersonId } from "../../values/Ids.ts"
import type { Permission, Role, Scope } from "../../values/Permission.ts"
import type { Plan } from "../../values/Plan.ts"
import type { Mode } from "../../values/TestMode.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import { apiErrors } from "./ApiError.ts"
import * as Errors from "./ApiErrors.ts"

/** The authenticated caller of a request. */
export class Principal extends Context.Service<Principal, {
  /** The shadow account for a test key. */
  readonly accountId: AccountId
  readonly mode: Mode
  /** The API key of the request; `undefined` for a login session. */
  readonly keyId: ApiKeyId | undefined
  /** The visible part of the API key. */
  readonly keyPrefix?: string
  /** The login session of the request; `undefined` for an API key. */
  readonly sessionId: LoginSessionId | undefined
  /** The person whose sign-in to the console makes the request; `undefined` for a key and for a login. */
  readonly person?: { readonly id: PersonId; readonly role: Role } | undefined
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
 * The caller of a request that this process makes to itself, for a signed-in person or an agent. No header can set it. It
 * replaces the bearer token; the rate limit and the endpoint's `Access` apply as to any caller.
 */
export const OwnRequest = Context.Reference<Principal["Service"] | undefined>(
  "messaging-service/platform/http/Authentication/OwnRequest",
  { defaultValue: () => undefined }
)

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
        Errors.LiveKeyRequired,
        Errors.TestKeyRequired,
        Errors.AddressUnconfirmed,
        Errors.SubscriptionRequired,
        Errors.SubscriptionExpired
      )
    }
  )
{}
