import { Context, Effect, Layer, Redacted } from "effect"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { Database } from "../platform/database/Database.ts"
import { type RateLimitExceeded, ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Notifications, Profile } from "./Account.ts"
import type { NotificationsChange, PasswordChange, ProfileChange } from "./AccountApi.ts"
import { EmailTaken } from "./AccountErrors.ts"
import { AccountSettingsRepo } from "./AccountSettingsRepo.ts"
import { Audit } from "./Audit.ts"
import { CurrentPassword } from "./CurrentPassword.ts"
import { Notices } from "./Notices.ts"
import { passwordFault, type Person } from "./passwordFault.ts"
import { emailChangedNotice, passwordChangedNotice } from "./securityNotices.ts"

/** The violations of a new password, if any. */
export const passwordViolations = Effect.fn("passwordViolations")(function*(
  wanted: { readonly password: string; readonly password_confirmation?: string },
  person: Person
) {
  const fault = yield* passwordFault(wanted.password, person)
  return [
    ...(fault === undefined ? [] : [{ param: "password", type: "weak_password", message: fault }]),
    ...(wanted.password_confirmation === undefined || wanted.password_confirmation === wanted.password
      ? []
      : [{ param: "password_confirmation", type: "mismatch", message: "must be the same as password" }])
  ] satisfies ReadonlyArray<Violation>
})

/** Fails with all violations, if there are any. */
export const refuseAll = (errors: ReadonlyArray<Violation>): Effect.Effect<void, ValidationFailed> =>
  errors[0] === undefined ? Effect.void : Effect.fail(new ValidationFailed({ param: errors[0].param, errors }))

/** The settings of an account's owner (spec 2.8, 4.7). */
export class AccountSettings extends Context.Service<AccountSettings, {
  /** Sends a notice to the previous address if it changes. */
  readonly changeProfile: (accountId: AccountId, change: ProfileChange) => Effect.Effect<Profile, EmailTaken>
  /** Login sessions and keys stay valid. */
  readonly changePassword: (
    accountId: AccountId,
    change: PasswordChange
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
      const { base } = yield* PublicUrl

      const changeProfile = Effect.fn("AccountSettings.changeProfile")(
        function*(accountId: AccountId, change: ProfileChange) {
          return yield* transaction(Effect.gen(function*() {
            const { email: before } = yield* repo.lock(accountId)
            if (
              change.email !== undefined &&
              (yield* repo.isTaken({ accountId, email: change.email })).taken
            ) {
              return yield* new EmailTaken()
            }
            const row = yield* repo.update({ accountId, change })
            if (row.email !== before) {
              yield* audit.record({ accountId, action: "email.changed" })
              yield* notices.enqueue(emailChangedNotice(accountId, before))
            }
            return row
          }))
        }
      )

      const changePassword = Effect.fn("AccountSettings.changePassword")(
        function*(accountId: AccountId, { current_password: current, ...wanted }: PasswordChange) {
          yield* currentPassword.check(accountId, current)
          const person = yield* repo.credentials(accountId)
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
            yield* audit.record({ accountId, action: "password.changed" })
            yield* notices.enqueue(passwordChangedNotice(accountId, base))
          }))
        }
      )

      return AccountSettings.of({
        changeProfile,
        changePassword,
        notifications: (accountId) => repo.notifications(accountId),
        changeNotifications: Effect.fn("AccountSettings.changeNotifications")((accountId, change) =>
          repo.changeNotifications({ accountId, change })
        )
      })
    })
  ).pipe(Layer.provide(AccountSettingsRepo.layer))
}
