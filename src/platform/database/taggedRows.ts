import type { SqlClient } from "effect/sql"
import { column } from "./column.ts"

/**
 * The condition of messages that have all of these tags, in the form that the index of tags has: it keeps the tags of each
 * account apart. `table` is the alias of the table, with a dot.
 */
export const taggedRows = (
  sql: SqlClient.SqlClient,
  { accountId, tags }: { readonly accountId: number; readonly tags: ReadonlyArray<string> },
  table = ""
) => {
  const { literal } = sql
  return sql`${literal(`${table}tags <> '{}' and account_tags(${table}account_id, ${table}tags)`)}
    @> account_tags(${accountId}::bigint, ${column.text(tags)}::text[])`
}
