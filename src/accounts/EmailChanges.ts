import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import type { EmailAddress } from "../values/EmailAddress.ts"
import { AccountId, EmailChangeId } from "../values/Ids.ts"
import { EmailChangeLimit, EmailTaken, TokenExpired } from "./AccountErrors.ts"
import { Audit } from "./Audit.ts"
import { Notices } from "./notices/Notices.ts"
import { SealedNotices } from "./notices/SealedNotices.ts"
import { emailChangedNotice, emailConfirmationNotice, emailRestoredNotice } from "./notices/securityNotices.ts"
import { PasswordResets } from "./PasswordResets.ts"

/** Begin the tokens of the two links, so that each names what it does. */
const prefixes = { confirm: "ec_live_", undo: "eu_live_" } as const

/** What a link does when its reader agrees. */
export type LinkAction = keyof typeof prefixes

/** The action of a token, if it has the form of one. */
export const actionOf = (token: string): LinkAction | undefined =>
  (["confirm", "undo"] as const).find((action) => Tokens.isWellFormed(prefixes[action], token))

/** The most new addresses that an account asks for in an hour, with those that another account has. */
const maxPerHour = 5

const Change = Schema.Struct({
  id: EmailChangeId,
  account_id: AccountId,
  old_email: Schema.String,
  new_email: Schema.String
})

/** An address change whose link is valid. */
export type EmailChange = typeof Change.Type

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Changes of one account's address wait for each other. */
  const lock = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ email: Schema.String }),
    execute: (id) => sql`select email from accounts where id = ${id} and deleted_at is null for no key update`
  })

  const ofLastHour = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ count: Schema.Int, wait: Schema.Int }),
    execute: (accountId) =>
      sql`select count(*)::integer as count,
          coalesce(ceil(extract(epoch from min(requested_at) + interval '1 hour' - now())), 0)::integer as wait
        from email_changes where account_id = ${accountId} and requested_at > now() - interval '1 hour'`
  })

  /** Another account has the address, or can still restore it. */
  const isTaken = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, email: Schema.String }),
    Result: Schema.Struct({ taken: Schema.Boolean }),
    execute: ({ accountId, email }) =>
      sql`select exists (select from accounts where lower(email) = lower(${email}) and id <> ${accountId})
        or exists (select from email_changes
          where lower(old_email) = lower(${email}) and account_id <> ${accountId} and expires_at > now()) as taken`
  })

  const withdraw = (accountId: AccountId) =>
    Query.run(sql`update email_changes set expires_at = now()
      where account_id = ${accountId} and confirmed_at is null and expires_at > now()`)

  const insert = (change: Pick<EmailChange, "account_id" | "old_email" | "new_email">, token: string) =>
    Query.run(sql`insert into email_changes (account_id, old_email, new_email, token_hash, expires_at)
      values (${change.account_id}, ${change.old_email}, ${change.new_email}, ${Tokens.hash(token)},
        now() + interval '24 hours')`)

  /** Counts a request for an address that is taken. The row has ended, and not that address. */
  const countRefusal = (accountId: AccountId, email: string) =>
    Query.run(sql`insert into email_changes (account_id, old_email, new_email, token_hash, expires_at)
      values (${accountId}, ${email}, ${email}, ${Tokens.hash(Tokens.mint(prefixes.confirm))}, now())`)

  const find = Query.findOneOption({
    Request: Schema.String,
    Result: Change,
    execute: (token) =>
      sql`select c.id, c.account_id, c.old_email, c.new_email from email_changes c join accounts a on a.id = c.account_id
        where c.token_hash = ${Tokens.hash(token)} and c.expires_at > now() and a.deleted_at is null`
  })

  /** From now on the token of the undo is valid instead of the confirmation's. */
  const confirm = (id: EmailChangeId, undo: string) =>
    Query.run(sql`update email_changes set confirmed_at = now(), token_hash = ${Tokens.hash(undo)},
        expires_at = now() + interval '7 days' where id = ${id}`)

  /** Ends a change and all later ones, so that a chain of changes cannot escape from the first undo. */
  const end = ({ account_id, id }: EmailChange) =>
    Query.run(sql`update email_changes set expires_at = now()
      where account_id = ${account_id} and id >= ${id} and expires_at > now()`)

  /** The link proves the address. Resets that were asked for before end: their tokens went to another address. */
  const setEmail = (accountId: AccountId, email: string) =>
    Query.run(
      sql`with resets as (delete from password_resets where account_id = ${accountId})
        update accounts set email = ${email}, awaits_confirmation = false where id = ${accountId}`.pipe(
        Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new EmailTaken()))
      )
    )

  const endAccess = (accountId: AccountId) =>
    Query.run(sql`with owner as (select id from people where account_id = ${accountId}),
      ended as (delete from login_sessions where account_id = ${accountId} or person_id in (select id from owner)),
      keys as (delete from passkeys where person_id in (select id from owner)),
      apps as (delete from authenticators where person_id in (select id from owner)),
      codes as (delete from recovery_codes where person_id in (select id from owner))
      update accounts set password_hash = null where id = ${accountId}`)

  return { lock, ofLastHour, isTaken, withdraw, insert, countRefusal, find, confirm, end, setEmail, endAccess }
})

/**
 * New email addresses of accounts. A new address counts once a person has confirmed it there. For 7 days the holder of the
 * previous one can undo the change, and no other account gets that address.
 */
export class EmailChanges extends Context.Service<EmailChanges, {
  /**
   * Mails a link to the new address, and forgets an earlier request. The account's own address only does the latter. Never
   * in the caller's transaction, which would forget a refusal.
   */
  readonly request: (
    accountId: AccountId,
    email: EmailAddress
  ) => Effect.Effect<void, EmailChangeLimit | EmailTaken>
  /** The change of a link that is valid now. Changes nothing. */
  readonly find: (token: string) => Effect.Effect<EmailChange, TokenExpired>
  /** Gives the account its new address, and tells the previous one how to undo it. */
  readonly confirm: (token: string) => Effect.Effect<EmailChange, EmailTaken | TokenExpired>
  /**
   * Restores the previous address, whatever the address is by now. The thief of a key may have set a password by mail, and
   * signed in with it to add a second factor. So the password, the second factors and all login sessions end, and the
   * restored address gets a token for a new password.
   */
  readonly undo: (token: string) => Effect.Effect<EmailChange, EmailTaken | TokenExpired>
}>()("messaging-service/accounts/EmailChanges") {
  static readonly layer = Layer.effect(
    EmailChanges,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const { base } = yield* PublicUrl
      const audit = yield* Audit
      const notices = yield* Notices
      const sealed = yield* SealedNotices
      const resets = yield* PasswordResets
      const repo = yield* makeRepo
      const linkOf = (token: string) => `${base}/account/email/${token}`

      const refuseTooMany = Effect.fnUntraced(function*(accountId: AccountId) {
        const { count, wait } = yield* repo.ofLastHour(accountId)
        if (count < maxPerHour) return
        const { answerHeaders } = yield* RequestContext
        answerHeaders.set("retry-after", String(wait))
        return yield* new EmailChangeLimit({ limit: maxPerHour, retry_after: wait })
      })

      const find = Effect.fn("EmailChanges.find")(function*(token: string) {
        const change = Option.getOrUndefined(yield* repo.find(token))
        return change ?? (yield* new TokenExpired())
      })

      /** The change again, once no other request can use its token, and the account's address. */
      const locked = Effect.fnUntraced(function*(token: string) {
        const { account_id } = yield* find(token)
        const account = Option.getOrUndefined(yield* repo.lock(account_id))
        if (account === undefined) return yield* new TokenExpired()
        return { change: yield* find(token), current: account.email }
      })

      const request = Effect.fn("EmailChanges.request")(function*(accountId: AccountId, email: EmailAddress) {
        const isTaken = yield* transaction(Effect.gen(function*() {
          const account = Option.getOrUndefined(yield* repo.lock(accountId))
          // The account was deleted after authentication.
          if (account === undefined) return false
          if (email === account.email) return yield* Effect.as(repo.withdraw(accountId), false)
          // First, because the answers for many addresses would tell which have accounts.
          yield* refuseTooMany(accountId)
          if ((yield* repo.isTaken({ accountId, email })).taken) {
            return yield* Effect.as(repo.countRefusal(accountId, account.email), true)
          }
          yield* repo.withdraw(accountId)
          const token = Tokens.mint(prefixes.confirm)
          yield* repo.insert({ account_id: accountId, old_email: account.email, new_email: email }, token)
          yield* audit.record({ accountId, action: "email.requested" })
          yield* sealed.enqueue(emailConfirmationNotice({ accountId, recipient: email, link: linkOf(token) }))
          return false
        }))
        if (isTaken) return yield* new EmailTaken()
      })

      const confirm = Effect.fn("EmailChanges.confirm")(function*(token: string) {
        return yield* transaction(Effect.gen(function*() {
          const { change } = yield* locked(token)
          const { account_id: accountId, id, new_email, old_email } = change
          if ((yield* repo.isTaken({ accountId, email: new_email })).taken) return yield* new EmailTaken()
          const undo = Tokens.mint(prefixes.undo)
          yield* repo.confirm(id, undo)
          yield* repo.setEmail(accountId, new_email)
          yield* audit.record({ accountId, action: "email.changed" })
          yield* sealed.enqueue(emailChangedNotice({ accountId, recipient: old_email, link: linkOf(undo) }))
          return change
        }))
      })

      const undo = Effect.fn("EmailChanges.undo")(function*(token: string) {
        return yield* transaction(Effect.gen(function*() {
          const { change, current } = yield* locked(token)
          const { account_id: accountId, old_email } = change
          yield* repo.end(change)
          yield* repo.setEmail(accountId, old_email)
          yield* repo.endAccess(accountId)
          yield* resets.ask(old_email)
          yield* audit.record({ accountId, action: "email.restored" })
          yield* notices.enqueue(emailRestoredNotice(accountId, current))
          return change
        }))
      })

      return EmailChanges.of({ request, find, confirm, undo })
    })
  )
}
