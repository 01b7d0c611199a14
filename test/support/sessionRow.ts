import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newDataKey } from "../../src/channels/whatsapp/credentials/DataKey.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { makeAccount } from "./Service.ts"

/** Inserts a WhatsApp session for a new account directly, and reads its row. */
export const makeSessionRow = Effect.fnUntraced(function*(isPaired: boolean) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [next] = yield* sql`select nextval(pg_get_serial_sequence('whatsapp_sessions', 'id')) as id`
  const id = WhatsAppSessionId.make(Number(next?.["id"]))
  yield* sql`insert into whatsapp_sessions (id, account_id, session_key, name, data_key, is_paired, status, is_confirmed)
    overriding system value values (${id}, ${accountId}, ${`wa_${id}`}, 'Test', ${newDataKey(yield* Vault, id)},
      ${isPaired}, ${isPaired ? "connected" : "pending"}, true)`
  const row = Effect.map(
    sql`select status, reason, desired, failures, is_paired, retry_at is not null as tries
      from whatsapp_sessions where id = ${id}`,
    ([found]) => found ?? {}
  )
  return { id, row }
})
