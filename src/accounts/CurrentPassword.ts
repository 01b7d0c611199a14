import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { type RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { limitPerMinute, RateLimit } from "../platform/http/RateLimit.ts"
import type { AccountId } from "../values/Ids.ts"
import { AccountSettingsRepo } from "./AccountSettingsRepo.ts"

/** Asks the owner: a request proves with the current password that it is not only a stolen key or login. */
export class CurrentPassword extends Context.Service<CurrentPassword, {
  /** Fails unless this is the account's password. All guesses of an account count together, whatever asks for it. */
  readonly check: (accountId: AccountId, password: string) => Effect.Effect<void, RateLimitExceeded | ValidationFailed>
}>()("messaging-service/accounts/CurrentPassword") {
  static readonly layer = Layer.effect(
    CurrentPassword,
    Effect.gen(function*() {
      const { rateLimitLogin } = yield* AppConfig
      const limits = yield* RateLimit
      const repo = yield* AccountSettingsRepo
      return CurrentPassword.of({
        check: Effect.fn("CurrentPassword.check")(function*(accountId, password) {
          yield* limitPerMinute(limits, { name: `password:${accountId}`, limit: rateLimitLogin })
          const { password_hash } = yield* repo.credentials(accountId)
          if (yield* Passwords.verify(password, password_hash)) return
          return yield* ValidationFailed.of("current_password", "is not the current password", "wrong_password")
        })
      })
    })
  ).pipe(Layer.provide(AccountSettingsRepo.layer))
}
