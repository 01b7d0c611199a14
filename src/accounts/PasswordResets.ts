import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../platform/config/AppConfig.ts"
import * as Passwords from "../platform/crypto/Passwords.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { AccountId } from "../values/Ids.ts"
import { TokenExpired } from "./AccountErrors.ts"
import { Audit } from "./Audit.ts"
import { hashOf } from "./LoginGuesses.ts"
import { Notices } from "./notices/Notices.ts"
import { SealedNotices } from "./notices/SealedNotices.ts"
import { passwordResetNotice, passwordTokenNotice } from "./notices/securityNotices.ts"
import { passwordViolations, refuseAll } from "./passwordFault.ts"

/** Distinguishes reset tokens from keys and logins. */
const resetPrefix = "rt_live_"

/** The most reset mails that an account receives in an hour. */
const maxPerHour = 5

/** The most requests that one transaction answers. */
const maxAnswers = 100

/** A new password with the token from a reset mail. */
export interface PasswordReset {
  readonly token: Redacted.Redacted
  readonly password: string
  readonly password_confirmation: string
}

const Request = Schema.Struct({ email: Schema.String, client_address: Schema.String })
type Request = typeof Request.Type

const Owner = Schema.Struct({ account_id: AccountId, name: Schema.String, email: Schema.String })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** The same work whether or not an account has the address. */
  const ask = ({ client_address, email }: Request) =>
    Query.run(sql`insert into password_reset_requests (email, client_address) values (${email}, ${client_address})`)

  const take = Query.findAll({
    Request: Schema.Void,
    Result: Request,
    execute: () =>
      sql`delete from password_reset_requests where id in (
        select id from password_reset_requests order by id limit ${maxAnswers} for update skip locked)
        returning email, client_address`
  })

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

  /**
   * Marks the token as used, and all other tokens of its account. Locks the account before its sessions are read, so that those
   * of logins that are in flight are among them.
   */
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
        select used.account_id from used join accounts a on a.id = used.account_id for no key update of a`
  })

  /**
   * The token proves the address. Before that, a stranger may have registered it: then every other way in ends, their keys
   * and second factors too.
   */
  const setPassword = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, hash: Schema.String }),
    Result: Schema.Struct({ was_unconfirmed: Schema.Boolean }),
    execute: ({ accountId, hash }) =>
      sql`with account as (select awaits_confirmation from accounts where id = ${accountId}),
        owner as (select id from people where account_id = ${accountId}),
        stranger as (select id from owner, account where awaits_confirmation),
        ended as (delete from login_sessions where account_id = ${accountId} or person_id in (select id from owner)),
        passkey as (delete from passkeys where person_id in (select id from stranger)),
        app as (delete from authenticators where person_id in (select id from stranger)),
        code as (delete from recovery_codes where person_id in (select id from stranger)),
        changes as (update email_changes set expires_at = now()
          where account_id = ${accountId} and (select awaits_confirmation from account) and expires_at > now()),
        gone as (delete from api_keys where account_id in (${accountId}, -${accountId}::bigint)
          and (select awaits_confirmation from account) returning key_hash),
        revoked as (insert into revoked_api_keys (key_hash) select key_hash from gone
          on conflict (key_hash) do update set revoked_at = now())
        update accounts a set password_hash = ${hash}, awaits_confirmation = false from account where a.id = ${accountId}
        returning account.awaits_confirmation as was_unconfirmed`
  })

  /** The owner has proved themselves by mail, so wrong passwords no longer pause their logins, from any network. */
  const forgive = (email: string) =>
    Query.run(sql`delete from login_guesses where email_hash = ${hashOf(email.toLowerCase())}`)

  return { ask, take, insert, find, use, setPassword, forgive }
})

/** New passwords for owners who forgot theirs. */
export class PasswordResets extends Context.Service<PasswordResets, {
  /** Stores a request. {@link answer} looks for the account, so that no caller can measure whether there is one. */
  readonly ask: (email: string) => Effect.Effect<void>
  /** Mails a token for each request whose address an account has. */
  readonly answer: Effect.Effect<void>
  /**
   * Sets the password, and ends all login sessions and pauses of logins. A token works once, within an hour. It confirms the
   * address. If the account awaited that, it also ends API keys and second factors.
   */
  readonly use: (wanted: PasswordReset) => Effect.Effect<void, TokenExpired | ValidationFailed>
}>()("messaging-service/accounts/PasswordResets") {
  static readonly layer = Layer.effect(
    PasswordResets,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const notices = yield* Notices
      const sealed = yield* SealedNotices
      const { base } = yield* PublicUrl
      const { console } = yield* AppConfig
      const linkOf = (token: string) => console === "on" ? `${base}/console/password/reset/${token}` : undefined
      const repo = yield* makeRepo

      const answerOne = Effect.fnUntraced(
        function*({ email }: Request) {
          const token = Tokens.mint(resetPrefix)
          const asked = yield* repo.insert({ email, tokenHash: Tokens.hash(token) })
          if (Option.isNone(asked)) return
          const { account_id: accountId } = asked.value
          yield* audit.record({ accountId, action: "password.reset_asked" })
          yield* sealed.enqueue(passwordTokenNotice(accountId, token, linkOf(token)))
        },
        // For the audit log, it is the request that asked.
        (effect, { client_address: clientAddress }) =>
          Effect.updateService(effect, RequestContext, (facts) => ({ ...facts, clientAddress }))
      )
      const answer = transaction(Effect.tap(repo.take(), Effect.forEach(answerOne))).pipe(
        Effect.repeat({ while: ({ length }) => length === maxAnswers }),
        Effect.asVoid,
        Effect.withSpan("PasswordResets.answer")
      )

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
          const { was_unconfirmed } = yield* repo.setPassword({ accountId, hash })
          yield* repo.forgive(found.value.email)
          yield* audit.record({ accountId, action: "password.reset" })
          if (was_unconfirmed) yield* audit.record({ accountId, action: "address.confirmed" })
          yield* notices.enqueue(passwordResetNotice(accountId, was_unconfirmed))
        }))
      })

      return PasswordResets.of({
        ask: Effect.fn("PasswordResets.ask")(function*(email) {
          const { clientAddress: client_address } = yield* RequestContext
          yield* repo.ask({ email, client_address })
        }),
        answer,
        use
      })
    })
  )
}

/** Answers requests for password resets, on one node of the cluster. */
export const PasswordResetAnswers = Layer.unwrap(
  Effect.map(PasswordResets, ({ answer }) => PeriodicTask.make("PasswordResetAnswers", "1 second", answer))
)
