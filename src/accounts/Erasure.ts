import { Context, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import type { AccountId } from "../values/Ids.ts"

/** How a domain erases a deleted account. */
export interface ErasureStep {
  /** For logs. */
  readonly name: string
  /**
   * Runs in the deleting transaction, for what must end with the account, such as keys. It must be fast, because the
   * request waits.
   */
  readonly atOnce?: (accountId: AccountId) => Effect.Effect<void, never, SqlClient.SqlClient>
  /**
   * Erases some rows and returns how many; 0 when none are left. Repeated until then, by another node after a crash,
   * and once more later for requests that were in flight.
   */
  readonly some: (accountId: AccountId) => Effect.Effect<number, never, SqlClient.SqlClient>
}

/** The steps of all domains, in order. The composition root provides them. */
export class Erasure extends Context.Service<Erasure, ReadonlyArray<ErasureStep>>()(
  "messaging-service/accounts/Erasure"
) {}

/** Rows per statement, so that locks are short and a crash loses little. */
const maxRows = 2_000

/** Erases an account's rows from tables with an `account_id`, one table after the other. */
export const eraseRows = (...tables: ReadonlyArray<string>): ErasureStep["some"] => (accountId) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    for (const table of tables) {
      const count = yield* Query.rowCount(sql`delete from ${sql(table)} where ctid = any (array(
          select ctid from ${
        sql(table)
      } where account_id = ${accountId} limit ${maxRows})) and account_id = ${accountId}
        returning 1`)
      if (count > 0) return count
    }
    return 0
  })

/** Rows of all accounts that a statement of {@link eraseByScan} looks at. */
const scanSize = 20_000

const Key = Schema.NullOr(Schema.Union([Schema.String, Schema.Int]))

const Scanned = Schema.Struct({ erased: Schema.Int, last: Key })

/**
 * Erases an account's rows from a table that has no index of accounts: scans all of it once, in the order of a key that has an
 * index, a portion with each statement.
 */
export const eraseByScan = (table: string, key: string): ErasureStep["some"] => (accountId) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const next = Query.findOne({
      Request: Key,
      Result: Scanned,
      execute: (after) =>
        sql`with scanned as (
            select ${sql(key)} as key, account_id from ${sql(table)}
            where ${after === null ? sql`true` : sql`${sql(key)} > ${after}`}
            order by ${sql(key)} fetch first (${scanSize}) rows with ties
          ), gone as (
            delete from ${sql(table)} where account_id = ${accountId}
              and ${sql(key)} = any(array(select key from scanned where account_id = ${accountId})) returning 1
          )
          select (select count(*) from gone) as erased, (select max(key) from scanned) as last`
    })
    let erased = 0
    let after: typeof Key.Type = null
    do {
      const scanned: typeof Scanned.Type = yield* next(after)
      erased += scanned.erased
      after = scanned.last
    } while (after !== null)
    return erased
  })

/**
 * Deleting the login sessions and the owner's person logs everyone out at once. Deleting address changes frees the previous
 * addresses.
 */
export const accountsErasure: ErasureStep = {
  name: "accounts",
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* Query.run(sql`delete from login_sessions where account_id = ${accountId}`)
    yield* Query.run(sql`delete from people where account_id = ${accountId}`)
    yield* Query.run(sql`delete from memberships where account_id = ${accountId}`)
    yield* Query.run(sql`delete from password_resets where account_id = ${accountId}`)
    yield* Query.run(sql`delete from email_changes where account_id = ${accountId}`)
  }),
  some: eraseRows(
    "login_sessions",
    "people",
    "memberships",
    "password_resets",
    "email_changes",
    "notices",
    "audit_entries",
    "idempotency_records",
    "accepted_bytes"
  )
}
