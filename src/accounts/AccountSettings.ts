import { Context, Effect, Layer, Redacted } from "effect"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { Database } from "../platform/database/Database.ts"
import { type RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import type { AccountId, PersonId } from "../values/Ids.ts"
import type { Notifications, Profile } from "./Account.ts"
import type { NotificationsChange, PasswordChange, ProfileChange } from "./AccountApi.ts"
import type { EmailChangeLimit, EmailTaken } from "./AccountErrors.ts"
import { AccountSettingsRepo } from "./AccountSettingsRepo.ts"
import { Audit } from "./Audit.ts"
import { CurrentPassword } from "./CurrentPassword.ts"
import { EmailChanges } from "./EmailChanges.ts"
import { Notices } from "./notices/Notices.ts"
import { passwordChangedNotice } from "./notices/securityNotices.ts"
import { passwordViolations, refuseAll } from "./passwordFault.ts"

/** An account that the operator made, or that undid a change of its address, has no password to change. */
const noPassword = ValidationFailed.of(
  "current_password",
  "cannot be checked, because the account has no password yet; set one with POST /v1/auth/password/forgot",
  "no_password"
)

/** The settings of an account's owner (spec 2.8, 4.7). */
export class AccountSettings extends Context.Service<AccountSettings, {
  /** A new email address is requested only. */
  readonly changeProfile: (
    accountId: AccountId,
    change: ProfileChange
  ) => Effect.Effect<Profile, EmailChangeLimit | EmailTaken>
  /** Login sessions, sign-ins and keys stay valid (spec 4.7). `person`: who changes it on a page of theirs, for the audit log. */
  readonly changePassword: (
    accountId: AccountId,
    change: PasswordChange,
    person?: PersonId
  ) => Effect.Effect<void, RateLimitExceeded | ValidationFailed>
  readonly notifications: (accountId: AccountId) => Effect.Effect<Notifications>
  readonly changeNotifications: (accountId: AccountId, change: NotificationsChange) => Effect.Effect<Notifications>
}>()("messaging-service/accounts/AccountSettings") {
  static readonly layer = Layer.effect(
    AccountSettings,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const notices = yield* Notices
      const repo = yield* AccountSettingsRepo
      const currentPassword = yield* CurrentPassword
      const emailChanges = yield* EmailChanges
      const { base } = yield* PublicUrl

      const changeProfile = Effect.fn("AccountSettings.changeProfile")(
        function*(accountId: AccountId, change: ProfileChange) {
          if (change.email !== undefined) yield* emailChanges.request(accountId, change.email)
          return yield* repo.update({ accountId, change })
        }
      )

      const changePassword = Effect.fn("AccountSettings.changePassword")(
        function*(accountId: AccountId, { current_password: current, ...wanted }: PasswordChange, by?: PersonId) {
          const person = yield* repo.credentials(accountId)
          if (person.password_hash === null) return yield* noPassword
          yield* currentPassword.check(accountId, current)
          const isSame = wanted.password.normalize("NFKC") === current.normalize("NFKC")
          yield* refuseAll([
            ...(isSame
              ? [{ param: "password", type: "same_password", message: "must not be the current password" }]
              : []),
            ...yield* passwordViolations(wanted, person)
          ])
          const after = yield* Passwords.hash(wanted.password)
          yield* transaction(Effect.gen(function*() {
            yield* repo.setPassword({ accountId, hash: Redacted.make(after) })
            yield* audit.record({ accountId, action: "password.changed", ...(by !== undefined && { person: by }) })
            yield* notices.enqueue(passwordChangedNotice(accountId, base))
          }))
        }
      )

      return AccountSettings.of({
        changeProfile,
        changePassword,
        notifications: (accountId) => repo.notifications(accountId),
        changeNotifications: Effect.fn("AccountSettings.changeNotifications")((accountId, change) =>
          transaction(Effect.andThen(
            audit.record({ accountId, action: "notifications.changed", data: { ...change } }),
            repo.changeNotifications({ accountId, change })
          ))
        )
      })
    })
  ).pipe(Layer.provide(AccountSettingsRepo.layer))
}
