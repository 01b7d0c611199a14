/**
 * Deletes accounts. What has to end with the account ends in the transaction that deletes it; the rest is erased by
 * {@link AccountRemoval.erase}, which a periodic task repeats. What is to be erased is a row of `account_erasures`, every
 * statement erases what it finds, and nothing is remembered in between: whoever dies in the middle, the next one goes
 * on. A request that was under way when the account went may still write a row, so the account's own row goes only when
 * nothing was found a quarter of an hour after the deletion, which no request lives for.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import { Erasure, type ErasureStep } from "./Erasure.ts"

/** How long what was under way when an account was deleted may still write, in minutes. */
const aftermath = 15

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** The row has nothing of its owner from here on; a second deletion changes nothing. */
  const mark = (id: AccountId) =>
    Query.run(sql`with gone as (
        update accounts set deleted_at = now(), name = '', email = 'account-' || id || '@deleted.invalid',
          password_hash = null, timezone = 'UTC', locale = 'en', weekly_digest = false
        where id = ${id} and deleted_at is null returning id
      )
      insert into account_erasures (account_id) select id from gone`)

  const due = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ account_id: AccountId }),
    execute: () => sql`select account_id from account_erasures where next_at <= now() order by next_at`
  })

  /** Ends the erasure if it is time for it; else says when to look again: never both of one row in one statement. */
  const conclude = (id: AccountId) =>
    Query.run(sql`with concluded as (
        delete from account_erasures
        where account_id = ${id} and requested_at <= now() - ${aftermath} * interval '1 minute' returning account_id
      ), gone as (
        delete from accounts using concluded where id = concluded.account_id
      )
      update account_erasures set next_at = requested_at + ${aftermath} * interval '1 minute'
      where account_id = ${id} and requested_at > now() - ${aftermath} * interval '1 minute'`)

  return { mark, due, conclude }
})

/** Deletes accounts and erases what is left of them. */
export class AccountRemoval extends Context.Service<AccountRemoval, {
  /** From its commit on keys and login sessions are refused, nothing more is sent, and the address is free. */
  readonly remove: (accountId: AccountId) => Effect.Effect<void>
  /** Erases what is left of deleted accounts. Those that fail are tried again the next time and hold up no other. */
  readonly erase: Effect.Effect<void>
}>()("messaging-service/accounts/AccountRemoval") {
  static readonly layer = Layer.effect(
    AccountRemoval,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const steps = yield* Erasure
      const repo = yield* makeRepo

      const remove = Effect.fn("AccountRemoval.remove")(function*(accountId: AccountId) {
        yield* transaction(Effect.gen(function*() {
          yield* repo.mark(accountId)
          for (const { atOnce } of steps) if (atOnce !== undefined) yield* atOnce(accountId)
        }))
      }, Effect.provideService(SqlClient.SqlClient, sql))

      const emptied = Effect.fnUntraced(function*({ name, some }: ErasureStep, accountId: AccountId) {
        let total = 0
        let erased = yield* some(accountId)
        while (erased > 0) {
          total += erased
          erased = yield* some(accountId)
        }
        if (total > 0) yield* Effect.logInfo(`erased ${total} rows of ${name}`)
        return total
      })

      const eraseOne = Effect.fnUntraced(function*(accountId: AccountId) {
        const totals = yield* Effect.forEach(steps, (step) => emptied(step, accountId))
        // What depended on another step's rows may have been left; there is a next time soon.
        if (totals.every((total) => total === 0)) yield* repo.conclude(accountId)
      }, (effect, accountId) =>
        effect.pipe(
          Effect.tapCause((cause) => Effect.logWarning("an account is erased later", cause)),
          Effect.ignoreCause,
          Effect.annotateLogs({ account: accountId })
        ))

      const erase = Effect.gen(function*() {
        for (const { account_id } of yield* repo.due()) yield* eraseOne(account_id)
      }).pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.withSpan("AccountRemoval.erase"))

      return AccountRemoval.of({ remove, erase })
    })
  )
}
