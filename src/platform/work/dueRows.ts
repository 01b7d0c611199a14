import type { PgClient } from "@effect/sql-pg"
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { column } from "../database/column.ts"
import * as Query from "../database/Query.ts"
import type { AllottedTurn } from "./FairClaims.ts"

type Fragment = Statement.Fragment

interface Table {
  readonly name: string
  /** The columns of its key. */
  readonly key: ReadonlyArray<string>
  /** The lane of a row. An index begins with it, and goes on with account_id, due_at and the key. */
  readonly lane: string
  /** The condition of each lane, by which an index has its rows in the order of due_at and the key. */
  readonly lanes: ReadonlyArray<string>
}

/**
 * The SQL of {@link FairClaims} for a table with the columns `account_id` and `due_at`. The rows have the alias `m`;
 * `queued` is the condition of those that wait. All fragments skip rows that another node is claiming.
 */
export const dueRows = (sql: PgClient.PgClient, { key, lane, lanes, name }: Table) => {
  const keyColumns = sql.literal(key.map((name) => `m.${name}`).join(", "))
  const table = sql.literal(`${name} m`)
  const laneOf = sql.literal(lane)

  const first = (limit: Fragment, where: Fragment) =>
    sql`select ${keyColumns} from ${table} where ${where} and m.due_at <= now()
      order by m.due_at, ${keyColumns} limit ${limit} for update skip locked`

  return {
    /** The keys of the oldest due rows. `limits` has the room of each lane together with the later ones. */
    oldest: (queued: Fragment, limits: ReadonlyArray<number>): Fragment =>
      lanes.reduceRight<Fragment | undefined>((later, condition, index) => {
        const limit = sql`${limits[index] ?? 0}`
        const own = sql`select * from (${first(limit, sql`${queued} and ${sql.literal(condition)}`)}) own`
        return later === undefined ? own : sql`${own} union all select * from (${later}) later limit ${limit}`
      }, undefined) ?? sql`select`,

    /** The keys of the oldest due rows of each turn. */
    ofTurns: (queued: Fragment, turns: ReadonlyArray<AllottedTurn>): Fragment =>
      sql`select due.* from unnest(${column.int4(turns.map(({ lane }) => lane))},
          ${column.int8(turns.map(({ account_id }) => account_id))}, ${column.int4(turns.map(({ limit }) => limit))})
          as t (lane, account_id, most)
        cross join lateral (${
        first(sql`t.most`, sql`${queued} and ${laneOf} = t.lane and m.account_id = t.account_id`)
      }) due`,

    /** Reads which accounts have due rows in which lanes, by one entry of the index for each. */
    waiting: (queued: Fragment) => {
      const next = (after: Fragment) =>
        sql`(select ${laneOf} as lane, m.account_id, m.due_at from ${table} where ${queued} and ${after}
          order by ${laneOf}, m.account_id, m.due_at limit 1)`
      return Query.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ lane: Schema.Int, account_id: Schema.Int }),
        execute: () =>
          sql`with recursive firsts as (
              ${next(sql`true`)}
              union all
              select n.* from firsts f cross join lateral ${
            next(sql`(${laneOf}, m.account_id) > (f.lane, f.account_id)`)
          } n
            )
            select lane, account_id from firsts where due_at <= now()`
      })()
    }
  }
}
