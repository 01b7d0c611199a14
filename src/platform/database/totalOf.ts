import type { SqlClient, Statement } from "effect/sql"
import { maxRows } from "../../values/Page.ts"

/** The statement that counts the rows of a list, from its `from` on. It stops after the last row that a page can reach. */
export const totalOf = (sql: SqlClient.SqlClient, rows: Statement.Fragment) =>
  sql`select count(*) as total from (select ${rows} limit ${maxRows}) counted`
