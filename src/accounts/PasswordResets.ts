import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Passwords from "../platform/crypto/Passwords.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { EmailAddress } from "../values/EmailAddress.ts"
import { AccountId } from "../values/Ids.ts"
import { TokenExpired } from "./AccountErrors.ts"
import { passwordViolations, refuseAll } from "./AccountSettings.ts"
import { Audit } from "./Audit.ts"
import { Notices } from "./Notices.ts"
import { passwordResetNotice, passwordTokenNotice } from "./securityNotices.ts"

/** Distinguishes reset tokens from keys and logins. */
const resetPrefix = "rt_live_"

/** The most reset mails that an account receives in an hour. */
const maxPerHour = 5

/** A new password with the token from a reset mail. */
export interface PasswordReset {
  readonly token: Redacted.Redacted
  readonly password: string
  readonly password_confirmation: string
}

const Owner = Schema.Struct({ account_id: AccountId, name: Schema.String, email: Schema.String })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Nothing if no account has the address, or if the account has reached its hourly limit. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({ email: Schema.String, tokenHash: Schema.Uint8Array }),
    Result: Schema.Struct({ account_id: AccountId }),
    execute: ({ email, tokenHash }) =>
      sql`insert into password_resets (token_hash, account_id, expires_at)
        select ${tokenHash}::bytea, id, now() + interval '1 hour' from accounts a
        where lower(email) = lower(${email}) and deleted_at is null and (select count(*) from password_resets r
          where r.account_id = a.id and r.created_at > now() - interval '1 hour') < ${maxPerHour}
        returning account_id`
  })

  const find = Query.findOneOption({
    Request: Schema.Uint8Array,
    Result: Owner,
    execute: (tokenHash) =>
      sql`select r.account_id, a.name, a.email from password_resets r join accounts a on a.id = r.account_id
        where r.token_hash = ${tokenHash} and r.used_at is null and r.expires_at > now()`
  })

  /** Marks the token as used, and all other tokens of its account. */
  const use = Query.findOneOption({
    Request: Schema.Uint8Array,
    Result: Schema.Struct({ account_id: AccountId }),
    execute: (tokenHash) =>
      sql`with used as (
          update password_resets set used_at = now()
          where token_hash = ${tokenHash} and used_at is null and expires_at > now() returning account_id
        ), others as (
          update password_resets r set used_at = now() from used
          where r.account_id = used.account_id and r.used_at is null and r.token_hash <> ${tokenHash}
        )
        select account_id from used`
  })

  const setPassword = (accountId: AccountId, hash: string) =>
    Query.run(sql`with ended as (delete from login_sessions where account_id = ${accountId})
      update accounts set password_hash = ${hash} where id = ${accountId}`)

  return { insert, find, use, setPassword }
})

/** New passwords for owners who forgot theirs. */
export class PasswordResets extends Context.Service<PasswordResets, {
  /** Mails a token if an account has the address. Callers cannot see whether one has. */
  readonly ask: (email: EmailAddress) => Effect.Effect<void>
  /** Sets the password and ends all login sessions. A token works once, within an hour. */
  readonly use: (wanted: PasswordReset) => Effect.Effect<void, TokenExpired | ValidationFailed>
}>()("messaging-service/accounts/PasswordResets") {
  static readonly layer = Layer.effect(
    PasswordResets,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const notices = yield* Notices
      const repo = yield* makeRepo

      const ask = Effect.fn("PasswordResets.ask")(function*(email: EmailAddress) {
        const token = Tokens.mint(resetPrefix)
        yield* transaction(Effect.gen(function*() {
          const asked = yield* repo.insert({ email, tokenHash: Tokens.hash(token) })
          if (Option.isSome(asked)) yield* notices.enqueue(passwordTokenNotice(asked.value.account_id, token))
        }))
      })

      const use = Effect.fn("PasswordResets.use")(function*({ token, ...wanted }: PasswordReset) {
        const tokenHash = Tokens.hash(Redacted.value(token))
        const found = yield* repo.find(tokenHash)
        if (Option.isNone(found)) return yield* new TokenExpired()
        yield* refuseAll(yield* passwordViolations(wanted, found.value))
        const hash = yield* Passwords.hash(wanted.password)
        yield* transaction(Effect.gen(function*() {
          const used = yield* repo.use(tokenHash)
          if (Option.isNone(used)) return yield* new TokenExpired()
          const accountId = used.value.account_id
          yield* repo.setPassword(accountId, hash)
          yield* audit.record({ accountId, action: "password.reset" })
          yield* notices.enqueue(passwordResetNotice(accountId))
        }))
      })

      return PasswordResets.of({ ask, use })
    })
  )
}
