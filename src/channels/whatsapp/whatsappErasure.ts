import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"

const files = eraseRows("whatsapp_files")

/**
 * WhatsApp sessions with their keys, and files that wait to be sent. The sweeper has the device of each logged out,
 * which takes a connection that only its actor has, and erases it; sessions that stood for longer than that may take go
 * without a word to their phone.
 */
export const whatsappErasure: ErasureStep = {
  name: "whatsapp",
  /** A session is its account's no longer, nothing is written for it, and the sweeper finds it the next time it looks. */
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update whatsapp_sessions set desired = 'removed', updated_at = now() - interval '1 minute'
      where account_id = ${accountId}`
  }, Effect.orDie),
  some: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    const gone = yield* sql`delete from whatsapp_sessions
      where account_id = ${accountId} and updated_at < now() - interval '5 minutes' returning 1`
    return gone.length > 0 ? gone.length : yield* files(accountId)
  }, Effect.orDie)
}
