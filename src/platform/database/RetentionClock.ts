/**
 * The time that decides which rows have expired. It follows the database's clock, but each round moves it forward by at
 * most an hour. A database whose clock leaps a month ahead for ten minutes deletes some hours too much, not everything.
 * After a standstill the rounds catch up: sixty times as fast as time passes, with a round each minute.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "./Query.ts"

const advance = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Query.run(sql`update retention_clock set at = least(now(), at + interval '1 hour')`)
})

/** The time, as a part of a statement that deletes expired rows. */
const now = (sql: SqlClient.SqlClient) => sql`(select at from retention_clock)`

export const RetentionClock = { advance, now }
