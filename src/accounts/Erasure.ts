import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import type { AccountId } from "../values/Ids.ts"

/** How a domain forgets an account that was deleted. */
export interface ErasureStep {
  /** For logs. */
  readonly name: string
  /** In the transaction of the deletion: what must end with it, such as keys. Few rows, as somebody waits. */
  readonly atOnce?: (accountId: AccountId) => Effect.Effect<void, never, SqlClient.SqlClient>
  /**
   * Erases some of what is left and says how many rows that were, none when there is nothing left. It is repeated for as
   * long as there is, by another node when this one dies, and once more later on, for what was still being written.
   */
  readonly some: (accountId: AccountId) => Effect.Effect<number, never, SqlClient.SqlClient>
}

/** The steps of all domains, in their order. A port: the root lists them. */
export class Erasure extends Context.Service<Erasure, ReadonlyArray<ErasureStep>>()(
  "messaging-service/accounts/Erasure"
) {}

/** Rows of one statement, so that nobody waits for long and a crash loses little. */
const most = 2_000

/** Erases an account's rows of tables that name it in `account_id`, one table after the other. */
export const eraseRows = (...tables: ReadonlyArray<string>): ErasureStep["some"] => (accountId) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    for (const table of tables) {
      const count = yield* Query.rowCount(sql`delete from ${sql(table)} where ctid = any (array(
          select ctid from ${sql(table)} where account_id = ${accountId} limit ${most})) and account_id = ${accountId}
        returning 1`)
      if (count > 0) return count
    }
    return 0
  })

/** What accounts themselves leave: without sessions nobody is logged in, and what was to be told needs no telling. */
export const accountsErasure: ErasureStep = {
  name: "accounts",
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* Query.run(sql`delete from login_sessions where account_id = ${accountId}`)
    yield* Query.run(sql`delete from password_resets where account_id = ${accountId}`)
  }),
  some: eraseRows("login_sessions", "password_resets", "notices", "audit_entries", "idempotency_records")
}
