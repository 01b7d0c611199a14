import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that contain a secret, as text or as bytes. */
export const placesOf = Effect.fnUntraced(function*(secret: string | Uint8Array) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`
  const found: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql.unsafe(
      `select from ${String(name)} r where position($1 in r::text) > 0
      or position($2 in r::text) > 0 limit 1`,
      [String(secret), Buffer.from(secret).toString("hex")]
    )
    if (rows.length > 0) found.push(String(name))
  }
  return found
})
