import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { RateLimit } from "../platform/http/RateLimit.ts"
import { nothing, RequestContext } from "../platform/http/RequestContext.ts"
import { RegistrationClosed } from "./AccountErrors.ts"
import { Accounts, type LoginSession } from "./Accounts.ts"
import { passwordViolations, refuseAll } from "./AccountSettings.ts"
import { AuthApi } from "./AuthApi.ts"
import { limitPerMinute } from "./limitPerMinute.ts"
import { PasswordResets } from "./PasswordResets.ts"

const cookie = (value: string, maxAge: number) =>
  `__Host-session=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=Lax`

const month = 30 * 24 * 3600

/** Longer than it takes to queue a mail. */
const forgotDuration = "150 millis"

const opened = Effect.fnUntraced(function*({ account, expires_at, token }: LoginSession) {
  const { answerHeaders } = yield* RequestContext
  answerHeaders.set("set-cookie", cookie(Redacted.value(token), month))
  return { data: { account, token: Redacted.value(token), expires_at } }
})

/** Handlers of {@link AuthApi}. */
export const AuthHttp = HttpApiBuilder.group(baseContract.add(AuthApi), "auth", (handlers) =>
  Effect.gen(function*() {
    const accounts = yield* Accounts
    const resets = yield* PasswordResets
    const config = yield* AppConfig
    const limits = yield* RateLimit
    const isOpen = (config.registration ?? (config.databaseUrl === undefined ? "open" : "closed")) === "open"

    const perAddress = Effect.gen(function*() {
      const { clientAddress } = yield* RequestContext
      yield* limitPerMinute(limits, `login:${clientAddress}`, config.rateLimitLogin)
    })

    return handlers.handleAll({
      register: Effect.fnUntraced(function*({ payload: { password, ...person } }) {
        if (!isOpen) return yield* new RegistrationClosed()
        yield* perAddress
        yield* refuseAll(yield* passwordViolations({ password }, person))
        const account = yield* accounts.create({
          ...person,
          password: Redacted.make(password),
          plan: "starter",
          trial: true
        })
        return yield* Effect.flatMap(accounts.openSession(account), opened)
      }),
      login: Effect.fnUntraced(function*({ payload: { email, password } }) {
        yield* perAddress
        return yield* Effect.flatMap(accounts.login(email, Redacted.make(password)), opened)
      }),
      forgot: Effect.fnUntraced(function*({ payload: { email } }) {
        yield* perAddress
        // Takes equally long whether or not an account has the address.
        yield* Effect.all([resets.ask(email), Effect.sleep(forgotDuration)], { concurrency: "unbounded" })
        return yield* nothing
      }),
      reset: Effect.fnUntraced(function*({ payload: { token, ...wanted } }) {
        yield* perAddress
        yield* resets.use({ token: Redacted.make(token), ...wanted })
        return yield* nothing
      }),
      logout: Effect.fnUntraced(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        yield* accounts.logout(Redacted.make(headers["authorization"]?.replace(/^bearer +/i, "") ?? ""))
        const { answerHeaders } = yield* RequestContext
        answerHeaders.set("set-cookie", cookie("", 0))
        return yield* nothing
      })
    })
  }))
