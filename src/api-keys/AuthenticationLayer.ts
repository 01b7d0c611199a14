import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { loginPrefix } from "../people/SignIns.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { type FirstRead, FirstReadOf } from "../platform/database/QuickReads.ts"
import { Access, AccountLimit, type Rule } from "../platform/http/Access.ts"
import * as Errors from "../platform/http/ApiErrors.ts"
import { Authentication, OwnRequest, Principal } from "../platform/http/Authentication.ts"
import { limitPerMinute, RateLimit } from "../platform/http/RateLimit.ts"
import type { Usage } from "../platform/http/RateSlices.ts"
import { RequestContext, type RequestFacts } from "../platform/http/RequestContext.ts"
import { TestWork } from "../platform/work/TestWork.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Scope } from "../values/Permission.ts"
import type { Plan } from "../values/Plan.ts"
import { modeOf } from "../values/TestMode.ts"
import { shownLength } from "./ApiKeys.ts"
import type { Credential } from "./ApiKeysRepo.ts"
import { Credentials, makeFirstReads, prefixes } from "./Credentials.ts"

const refused = { unknown: Errors.InvalidApiKey, revoked: Errors.RevokedApiKey, expired: Errors.ExpiredApiKey } as const

type Unauthenticated = Errors.MissingApiKey | Errors.InvalidApiKey | Errors.RevokedApiKey | Errors.ExpiredApiKey

const isToken = (text: string) => [...prefixes, loginPrefix].some((prefix) => text.startsWith(prefix))

/** The fault of a request without a bearer token. It tells a beginner where the key was found instead. */
const missingKey = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, url }) => {
  if (isToken(headers["authorization"] ?? "")) return new Errors.MissingApiKey({ found_in: "authorization" })
  if (headers["x-api-key"] !== undefined) return new Errors.MissingApiKey({ found_in: "x-api-key" })
  return [...new URLSearchParams(url.split("?")[1]).values()].some(isToken)
    ? new Errors.MissingApiKey({ found_in: "query" })
    : new Errors.MissingApiKey()
})

/** Whether a token is worth a query. A mistyped key fails its checksum. */
const isWellFormed = (token: string) => [...prefixes, loginPrefix].some((prefix) => Tokens.isWellFormed(prefix, token))

const principalOf = (found: Credential, token: string): Principal["Service"] => ({
  // A usable credential has an account, because the query joins it.
  accountId: found.account_id as AccountId,
  mode: modeOf(found.account_id ?? 0),
  keyId: found.key_id ?? undefined,
  ...(found.key_id !== null && { keyPrefix: token.slice(0, shownLength) }),
  sessionId: found.session_id ?? undefined,
  expiresAt: found.expires_at,
  isFreshLogin: found.is_fresh_login,
  scopes: found.scopes ?? [],
  permissions: found.permissions ?? [],
  plan: found.plan as Plan,
  awaitsConfirmation: found.awaits_confirmation === true,
  trial: found.trial
})

type AnswerHeaders = RequestFacts["answerHeaders"]

/** The scopes of the channels. Codes have their own scope, and choose the channel later. */
const scopes = { email: "email:write", sms: "sms:write", whatsapp: "whatsapp:write" } as const

interface Asked {
  readonly rule: Rule
  readonly principal: Principal["Service"]
  readonly closed: ReadonlySet<Scope>
  readonly answerHeaders: AnswerHeaders
}

/** Why the caller may not use the endpoint: 403, then 402. `closed` has the scopes that trials do not send by. */
const unauthorized = ({ answerHeaders, closed, principal, rule }: Asked) => {
  if (rule.kind === "public") return undefined
  if (principal.scopes.length > 0 && !principal.scopes.some((scope) => rule.scopes.includes(scope))) {
    answerHeaders.set("www-authenticate", `Bearer error="insufficient_scope", scope="${rule.scopes.join(" ")}"`)
    return new Errors.InsufficientScope({ required: rule.scopes })
  }
  if (
    rule.permission !== undefined && principal.permissions.length > 0 &&
    !principal.permissions.includes(rule.permission)
  ) return new Errors.InsufficientPermission({ required: rule.permission })
  if (rule.mode !== undefined && rule.mode !== principal.mode) {
    return rule.mode === "test" ? new Errors.TestKeyRequired() : new Errors.LiveKeyRequired()
  }
  if (rule.paid === "subscription" && principal.trial !== "none") return new Errors.SubscriptionRequired()
  if (rule.paid !== "sending") return undefined
  if (principal.awaitsConfirmation) return new Errors.AddressUnconfirmed()
  if (principal.trial === "none") return undefined
  if (principal.trial === "over") return new Errors.SubscriptionExpired()
  // An endpoint of several channels refuses by itself what it cannot send.
  return rule.scopes.every((scope) => closed.has(scope)) ? new Errors.SubscriptionRequired() : undefined
}

interface Counted {
  readonly limit: number
  readonly usage: Usage
}

/** Tells the tighter limit of the two, and refuses a request above it. */
const refusedByLimit = (own: Counted, shared: Counted, answerHeaders: AnswerHeaders) => {
  const isOwn = own.limit - own.usage.used <= shared.limit - shared.usage.used
  const { limit, usage: { resetsAt, secondsLeft, used } } = isOwn ? own : shared
  const remaining = Math.max(0, limit - used)
  answerHeaders.set("x-ratelimit-limit", String(limit))
  answerHeaders.set("x-ratelimit-remaining", String(remaining))
  answerHeaders.set("x-ratelimit-reset", String(resetsAt))
  answerHeaders.set("ratelimit-policy", `"minute";q=${limit};w=60`)
  answerHeaders.set("ratelimit", `"minute";r=${remaining};t=${secondsLeft}`)
  if (used <= limit) return undefined
  answerHeaders.set("retry-after", String(secondsLeft))
  return new Errors.RateLimitExceeded({ limit, retry_after: secondsLeft })
}

/** A request with the token of its caller. */
interface Asking {
  readonly token: string
  readonly method: string
  readonly facts: RequestFacts
  readonly first: FirstRead | undefined
}

const publicRule: Rule = { kind: "public" }

/** See {@link Authentication}. Runs for each request, hence few effects. */
export const AuthenticationLayer = Layer.effect(
  Authentication,
  Effect.gen(function*() {
    const credentials = yield* Credentials
    const config = yield* AppConfig
    const limits = yield* RateLimit
    const testWork = yield* TestWork
    const closed = new Set(
      (["email", "sms", "whatsapp"] as const).flatMap((name) => config.trialChannels.has(name) ? [] : [scopes[name]])
    )
    const perMinute: Readonly<Record<Plan, number>> = {
      starter: config.rateLimitStarter,
      growth: config.rateLimitGrowth,
      business: config.rateLimitBusiness,
      enterprise: config.rateLimitEnterprise
    }

    /** Identifies the bearer of a token, or answers 401. */
    const bearerOf = (
      { facts, first, method, token }: Asking
    ): Effect.Effect<Principal["Service"], Unauthenticated, HttpServerRequest.HttpServerRequest> => {
      const refuse = (error: Unauthenticated) => {
        facts.answerHeaders.set("www-authenticate", `Bearer realm="api"`)
        return Effect.fail(error)
      }
      if (token === "") return Effect.flatMap(missingKey, refuse)
      if (!isWellFormed(token)) return refuse(new Errors.InvalidApiKey())
      const by = { ip: facts.clientAddress, endpoint: `${method} ${facts.route}` }
      return Effect.flatMap(credentials.find({ token, by, first }), (found) => {
        if (found.state === "usable") {
          const principal = principalOf(found, token)
          if (principal.mode === "test") testWork.note()
          return Effect.succeed(principal)
        }
        facts.caller = { accountId: found.account_id, keyId: found.key_id, keyPrefix: token.slice(0, shownLength) }
        return refuse(new refused[found.state]())
      })
    }

    const identify = (asking: Asking) =>
      asking.facts.isOwn
        ? Effect.filterOrElse(OwnRequest, (own) => own !== undefined, () => bearerOf(asking))
        : bearerOf(asking)

    /** Counts the request. Fails with 429, 403 or 402. */
    const admit = (rule: Rule, principal: Principal["Service"], facts: RequestFacts) => {
      const { accountId, keyId, person, plan } = principal
      const { answerHeaders } = facts
      facts.caller = principal
      const name = keyId !== undefined
        ? `key:${keyId}`
        : person === undefined
        ? `sessions:${accountId}`
        : `person:${person.id}`
      const own = { name, limit: perMinute[plan] }
      const shared = { name: `account:${accountId}`, limit: perMinute[plan] * config.rateLimitAccountKeys }
      return Effect.flatMap(limits.count([own, shared]), ([ofOwn, ofAll]) => {
        const counted = [{ limit: own.limit, usage: ofOwn }, { limit: shared.limit, usage: ofAll }] as const
        const refusal = refusedByLimit(...counted, answerHeaders) ??
          unauthorized({ rule, principal, closed, answerHeaders })
        return refusal === undefined ? Effect.void : Effect.fail(refusal)
      })
    }

    const withFirstRead = makeFirstReads()

    return Authentication.of({
      bearer: (httpEffect, { credential, endpoint }) => {
        const rule = Context.getOrUndefined(endpoint.annotations, Access) ?? publicRule
        const limit = Context.get(endpoint.annotations, AccountLimit)
        const token = Redacted.value(credential)
        const answer = (facts: RequestFacts, first?: FirstRead) =>
          Effect.flatMap(identify({ token, method: endpoint.method, facts, first }), (principal) => {
            const known = Effect.provideService(httpEffect, Principal, principal)
            const handled = first === undefined ? known : Effect.provideService(known, FirstReadOf, first)
            const bucket = limit && { name: `${limit}:${principal.accountId}`, limit: config[limit] }
            // Counted here, because the endpoint may run in a transaction, which would keep the counter locked.
            const limited = bucket === undefined ? handled : Effect.andThen(limitPerMinute(limits, bucket), handled)
            return Effect.andThen(admit(rule, principal, facts), limited)
          })
        return Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
          const facts = Context.get(context, RequestContext)
          facts.route = endpoint.path
          if (endpoint.method !== "GET" || facts.isOwn) return answer(facts)
          const { url } = Context.get(context, HttpServerRequest.HttpServerRequest)
          return withFirstRead(token.slice(0, shownLength), url, (first) => answer(facts, first))
        })
      }
    })
  })
)
