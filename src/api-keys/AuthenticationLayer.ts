import { Context, Effect, Layer, Redacted } from "effect"
import { loginPrefix } from "../accounts/LoginSessions.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Access, AccountLimit, type Rule } from "../platform/http/Access.ts"
import * as Errors from "../platform/http/ApiErrors.ts"
import { Authentication, Principal } from "../platform/http/Authentication.ts"
import { limitPerMinute, RateLimit } from "../platform/http/RateLimit.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { GroupCommit } from "../platform/work/GroupCommit.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Plan } from "../values/Plan.ts"
import { keyPrefix } from "./ApiKeys.ts"
import { ApiKeysRepo, type Credential } from "./ApiKeysRepo.ts"

/**
 * Finds the owner of a credential. Nothing is cached, so a revocation takes effect on every node at its commit. One
 * statement looks up all requests that arrive together, which keeps this cheap.
 */
export class Credentials extends Context.Service<Credentials, {
  /** Looks a token up and counts the request. Records the use of a credential at most once a minute. */
  readonly find: (token: string) => Effect.Effect<Credential>
}>()("messaging-service/api-keys/AuthenticationLayer/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const repo = yield* ApiKeysRepo
      const find = yield* GroupCommit.make({
        maxSize: 500,
        concurrency: 2,
        run: Effect.fnUntraced(function*(tokens: ReadonlyArray<string>) {
          const hashes = tokens.map(Tokens.hash)
          const rows = yield* repo.credentials(hashes)
          const stale = rows.filter(({ is_stale, state }) => is_stale && state === "usable")
          if (stale.length > 0) yield* Effect.forkDetach(Effect.ignore(repo.touch(stale)))
          return rows
        })
      })
      return Credentials.of({ find })
    })
  ).pipe(Layer.provide(ApiKeysRepo.layer))
}

const challenge = (header: string) =>
  Effect.map(RequestContext, ({ answerHeaders }) => answerHeaders.set("www-authenticate", header))

const refused = { unknown: Errors.InvalidApiKey, revoked: Errors.RevokedApiKey, expired: Errors.ExpiredApiKey } as const

/** Identifies the caller, or answers 401. */
const identify = Effect.fnUntraced(function*(credentials: Credentials["Service"], token: string) {
  yield* challenge(`Bearer realm="api"`)
  if (token === "") return yield* new Errors.MissingApiKey()
  // A mistyped key fails its checksum and needs no query.
  if (!Tokens.isWellFormed(keyPrefix, token) && !Tokens.isWellFormed(loginPrefix, token)) {
    return yield* new Errors.InvalidApiKey()
  }
  const found = yield* credentials.find(token)
  if (found.state !== "usable") return yield* new refused[found.state]()
  const { answerHeaders } = yield* RequestContext
  answerHeaders.delete("www-authenticate")
  return found
})

const principalOf = (found: Credential): Principal["Service"] => ({
  // A usable credential has an account, because the query joins it.
  accountId: found.account_id as AccountId,
  keyId: found.key_id ?? undefined,
  sessionId: found.session_id ?? undefined,
  expiresAt: found.expires_at,
  isFreshLogin: found.is_fresh_login,
  scopes: found.scopes ?? [],
  permissions: found.permissions ?? [],
  plan: found.plan as Plan,
  trial: found.trial
})

/** Of the limits of the key and of the account, the one that leaves fewer requests. Both minutes end at once. */
const tighter = ({ shared_used, used }: Credential, perKey: number, perAccount: number) => {
  // The query has counted a usable credential.
  const own = { limit: perKey, remaining: perKey - (used ?? 0) }
  const shared = { limit: perAccount, remaining: perAccount - (shared_used ?? 0) }
  return shared.remaining < own.remaining ? shared : own
}

/** Answers 403, then 402, if the caller may not use the endpoint. */
const authorize = Effect.fnUntraced(function*(rule: Rule, principal: Principal["Service"]) {
  if (rule.kind === "public") return
  if (principal.scopes.length > 0 && !principal.scopes.some((scope) => rule.scopes.includes(scope))) {
    yield* challenge(`Bearer error="insufficient_scope", scope="${rule.scopes.join(" ")}"`)
    return yield* new Errors.InsufficientScope({ required: rule.scopes })
  }
  if (
    rule.permission !== undefined && principal.permissions.length > 0 &&
    !principal.permissions.includes(rule.permission)
  ) {
    return yield* new Errors.InsufficientPermission({ required: rule.permission })
  }
  if (rule.paid === "subscription" && principal.trial !== "none") return yield* new Errors.SubscriptionRequired()
  if (rule.paid === "sending" && principal.trial === "over") return yield* new Errors.SubscriptionExpired()
})

/** See {@link Authentication}. */
export const AuthenticationLayer = Layer.effect(
  Authentication,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const config = yield* AppConfig
    const limits = yield* RateLimit
    const perMinute: Readonly<Record<Plan, number>> = {
      starter: config.rateLimitStarter,
      growth: config.rateLimitGrowth,
      business: config.rateLimitBusiness,
      enterprise: config.rateLimitEnterprise
    }

    /** Answers 429 above the rate limit of the key or of its account. */
    const limited = Effect.fnUntraced(function*(plan: Plan, found: Credential) {
      const tight = tighter(found, perMinute[plan], perMinute[plan] * config.rateLimitAccountKeys)
      const { limit } = tight
      const { answerHeaders } = yield* RequestContext
      const remaining = Math.max(0, tight.remaining)
      const [resetsAt, secondsLeft] = [found.resetsAt ?? 0, found.secondsLeft ?? 1]
      answerHeaders.set("x-ratelimit-limit", String(limit))
      answerHeaders.set("x-ratelimit-remaining", String(remaining))
      answerHeaders.set("x-ratelimit-reset", String(resetsAt))
      answerHeaders.set("ratelimit-policy", `"minute";q=${limit};w=60`)
      answerHeaders.set("ratelimit", `"minute";r=${remaining};t=${secondsLeft}`)
      if (tight.remaining >= 0) return
      answerHeaders.set("retry-after", String(secondsLeft))
      return yield* new Errors.RateLimitExceeded({ limit, retry_after: secondsLeft })
    })

    return Authentication.of({
      bearer: Effect.fnUntraced(function*(httpEffect, { credential, endpoint }) {
        const found = yield* identify(credentials, Redacted.value(credential))
        const principal = principalOf(found)
        yield* limited(principal.plan, found)
        yield* authorize(Context.getOrUndefined(endpoint.annotations, Access) ?? { kind: "public" }, principal)
        const limit = Context.get(endpoint.annotations, AccountLimit)
        // Counted here, because the endpoint may run in a transaction, which would keep the counter locked.
        if (limit !== undefined) yield* limitPerMinute(limits, `${limit}:${principal.accountId}`, config[limit])
        return yield* Effect.provideService(httpEffect, Principal, principal)
      })
    })
  })
)
