import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"
import * as Query from "../../platform/database/Query.ts"

const files = eraseRows("whatsapp_files")

/**
 * Erases WhatsApp sessions with their keys, and files that wait to be sent. The session sweeper logs each device out over
 * its actor's connection and erases the session. A session that is left after five minutes is erased without a logout.
 */
export const whatsappErasure: ErasureStep = {
  name: "whatsapp",
  /** Hides the sessions and stops their writes. The backdated row is due at the sweeper's next poll. */
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* Query.run(sql`update whatsapp_sessions set desired = 'removed', updated_at = now() - interval '1 minute'
      where account_id = ${accountId}`)
  }),
  some: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    const erased = yield* Query.rowCount(sql`delete from whatsapp_sessions
      where account_id = ${accountId} and updated_at < now() - interval '5 minutes' returning 1`)
    return erased > 0 ? erased : yield* files(accountId)
  })
}
