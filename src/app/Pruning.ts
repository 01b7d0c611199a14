import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chore } from "../platform/cluster/chore.ts"

/** What is kept for a while only: answers to repeat for a day, hashes of revoked keys for 30, windows for minutes. */
const prune = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from rate_windows where starts_at < now() - interval '5 minutes'`
  yield* sql`delete from idempotency_records where created_at < now() - interval '24 hours'`
  yield* sql`delete from revoked_api_keys where revoked_at < now() - interval '30 days'`
  yield* sql`delete from login_sessions where expires_at < now()`
})

/** Removes what has served its time. */
export const Pruning = chore("Pruning", "1 minute", prune)
