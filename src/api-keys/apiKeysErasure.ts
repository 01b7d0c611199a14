import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ErasureStep } from "../accounts/Erasure.ts"
import * as Query from "../platform/database/Query.ts"

const revokeAll: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Query.rowCount(
    sql`with gone as (delete from api_keys where account_id = ${accountId} returning key_hash)
    insert into revoked_api_keys (key_hash) select key_hash from gone
    on conflict (key_hash) do update set revoked_at = now() returning 1`
  )
})

/** Keys die with the account; their bare hashes tell for 30 days more that they were revoked. */
export const apiKeysErasure: ErasureStep = {
  name: "API keys",
  atOnce: (accountId) => Effect.asVoid(revokeAll(accountId)),
  some: revokeAll
}
