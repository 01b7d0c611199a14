/**
 * Deletes accounts. The deleting transaction ends what must end with the account; {@link AccountRemoval.erase} erases
 * the rest, repeated by a periodic task. Each deletion in progress is a row of `account_erasures`. Every statement erases the
 * rows that it finds and keeps no state, so another node can continue after a crash. A request in flight may still
 * write rows, so the account's row goes only if nothing was found 15 minutes after the deletion, which is longer than
 * any request.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { AccountId } from "../values/Ids.ts"
import { actor } from "./Audit.ts"
import { Erasure, type ErasureStep } from "./Erasure.ts"

/** Minutes for which requests in flight at the deletion may still write rows. */
const aftermath = 15

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /**
   * Anonymises the row and that of the shadow account. Returns both. A second deletion changes nothing. The text is no
   * address, so that no account can have it.
   */
  const mark = Query.findAll({
    Request: AccountId,
    Result: Schema.Struct({ account_id: AccountId }),
    execute: (id) =>
      sql`with gone as (
        update accounts set deleted_at = now(), name = '', email = 'deleted account ' || id,
          password_hash = null, timezone = 'UTC', locale = 'en', weekly_digest = false
        where id in (${id}::bigint, -${id}::bigint) and deleted_at is null returning id
      )
      insert into account_erasures (account_id) select id from gone returning account_id`
  })

  const due = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ account_id: AccountId }),
    execute: () => sql`select account_id from account_erasures where next_at <= now() order by next_at, account_id`
  })

  /**
   * Ends the erasure once {@link aftermath} has passed, else schedules the next look. Never both for one row in one
   * statement. A shadow account ends before its owner's.
   */
  const conclude = (id: AccountId) =>
    Query.run(sql`with concluded as (
        delete from account_erasures
        where account_id = ${id} and requested_at <= now() - ${aftermath} * interval '1 minute'
          and not exists (select from accounts where shadow_of = ${id}) returning account_id
      ), gone as (
        delete from accounts using concluded where id = concluded.account_id
      )
      update account_erasures set next_at = requested_at + ${aftermath} * interval '1 minute'
      where account_id = ${id} and requested_at > now() - ${aftermath} * interval '1 minute'`)

  return { mark, due, conclude }
})

/** Deletes accounts and erases their rows. */
export class AccountRemoval extends Context.Service<AccountRemoval, {
  /**
   * With the shadow account. After its commit, keys and login sessions are refused, nothing more is sent, and the email
   * address is free.
   */
  readonly remove: (accountId: AccountId) => Effect.Effect<void>
  /** Erases rows of deleted accounts. An account that fails is retried in the next round and does not block others. */
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
          for (const { account_id } of yield* repo.mark(accountId)) {
            for (const { atOnce } of steps) if (atOnce !== undefined) yield* atOnce(account_id)
          }
        }))
        // The operator's record of the deletion: the audit log is erased with the account.
        const { clientAddress: client_address, requestId: request_id } = yield* RequestContext
        const facts = { account_id: accountId, actor: yield* actor, client_address, request_id }
        yield* Effect.annotateLogs(Effect.logInfo("account deleted"), facts)
      }, Effect.provideService(SqlClient.SqlClient, sql))

      const eraseAll = Effect.fnUntraced(function*({ name, some }: ErasureStep, accountId: AccountId) {
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
        const totals = yield* Effect.forEach(steps, (step) => eraseAll(step, accountId))
        // Rows that depended on another step may be left. The next round follows soon.
        if (totals.every((total) => total === 0)) yield* repo.conclude(accountId)
      }, (effect, accountId) =>
        effect.pipe(
          Effect.tapCause((cause) => Effect.logWarning("erasing an account failed", cause)),
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
