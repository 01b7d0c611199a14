import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { Database } from "../platform/database/Database.ts"
import type { EmailAddress } from "../values/EmailAddress.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Locale, Timezone } from "../values/Locale.ts"
import type { Plan } from "../values/Plan.ts"
import { ownerOf } from "../values/TestMode.ts"
import type { Account } from "./Account.ts"
import { EmailTaken, InvalidCredentials } from "./AccountErrors.ts"
import { AccountsRepo, type RetentionDays } from "./AccountsRepo.ts"
import { Audit } from "./Audit.ts"

export interface NewAccount {
  readonly name: string
  readonly email: EmailAddress
  /** Without a password, only API keys work. */
  readonly password?: Redacted.Redacted
  readonly plan: Plan
  readonly trial: boolean
  /** Whether its owner must confirm the address before the account sends. */
  readonly awaitsConfirmation?: boolean
  readonly timezone?: Timezone
  readonly locale?: Locale
}

/** An account whose owner gave the right password, and the hash that it was compared with. */
export interface Authenticated {
  readonly account: Account
  readonly passwordHash: string
}

/** Accounts and their passwords. */
export class Accounts extends Context.Service<Accounts, {
  /** Creates an account. Addresses are unique regardless of case. */
  readonly create: (account: NewAccount) => Effect.Effect<Account, EmailTaken>
  /** The account of an address, if the password is right. */
  readonly authenticate: (
    email: string,
    password: Redacted.Redacted
  ) => Effect.Effect<Authenticated, InvalidCredentials>
  /** The owner's account for a shadow account. */
  readonly find: (id: AccountId) => Effect.Effect<Option.Option<Account>>
  /** All accounts, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Account>>
  /** Sets the plan and ends the trial. Nothing if the account does not exist. */
  readonly setPlan: (id: AccountId, plan: Plan) => Effect.Effect<Option.Option<Account>>
  /** Keeps the account's messages for fewer days than the settings say. Nothing if the account does not exist. */
  readonly setRetention: (
    id: AccountId,
    days: RetentionDays
  ) => Effect.Effect<Option.Option<{ readonly id: AccountId }>>
}>()("messaging-service/accounts/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const repo = yield* AccountsRepo

      const create = Effect.fn("Accounts.create")(function*(account: NewAccount) {
        const password_hash = account.password === undefined
          ? null
          : yield* Passwords.hash(Redacted.value(account.password))
        const { email, name, plan, trial } = account
        const row = yield* repo.insert({
          name,
          email,
          plan,
          trial,
          awaits_confirmation: account.awaitsConfirmation ?? false,
          password_hash,
          timezone: account.timezone ?? "UTC",
          locale: account.locale ?? "en"
        })
        if (Option.isNone(row)) return yield* new EmailTaken()
        return row.value
      })

      const authenticate = Effect.fn("Accounts.authenticate")(function*(email: string, password: Redacted.Redacted) {
        const found = Option.getOrUndefined(yield* repo.findByEmail(email))
        const matches = yield* Passwords.verify(Redacted.value(password), found?.password_hash ?? null)
        if (!matches || found?.password_hash === undefined || found.password_hash === null) {
          return yield* new InvalidCredentials()
        }
        const { password_hash: passwordHash, ...account } = found
        return { account, passwordHash }
      })

      return Accounts.of({
        create,
        authenticate,
        find: (id) => repo.find(ownerOf(id)),
        list: repo.list(),
        setRetention: Effect.fn("Accounts.setRetention")((id: AccountId, days: RetentionDays) =>
          transaction(Effect.tap(repo.setRetention({ id, ...days }), (changed) =>
            Option.isSome(changed)
              ? Effect.andThen(
                repo.copyToShadow(id),
                audit.record({ accountId: id, action: "retention.changed", data: { ...days } })
              )
              : Effect.void))
        ),
        setPlan: Effect.fn("Accounts.setPlan")(
          (id: AccountId, plan: Plan) =>
            transaction(Effect.tap(repo.setPlan({ id, plan }), (changed) =>
              Option.isSome(changed)
                ? Effect.andThen(
                  repo.copyToShadow(id),
                  audit.record({ accountId: id, action: "plan.changed", data: { plan } })
                )
                : Effect.void))
        )
      })
    })
  ).pipe(Layer.provide(AccountsRepo.layer))
}
