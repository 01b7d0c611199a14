/**
 * Rewraps sealed values under the current main key, column by column, while nodes read and write them. It rewraps only
 * data keys, 500 rows per statement, and can be stopped at any point: the id of the main key in each value shows what is
 * left, and the next run continues there. It skips a value that a node changes at the same moment: the node seals it under
 * the current main key, or moves it, and the next pass over all columns finds it.
 */
import { Effect, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column as parameter } from "../database/column.ts"
import * as Query from "../database/Query.ts"
import { nameOf, type SealedColumn, Vault } from "./Vault.ts"

const chunkSize = 500

/** Later passes find rows that were locked or moved. Nodes with the new key seal nothing under the old one. */
const maxPasses = 20

/** Neither main key opens some values. They were unreadable before; the rotation neither repairs nor deletes them. */
class SecretsUnreadable extends Schema.TaggedError<SecretsUnreadable>()("SecretsUnreadable", {
  places: Schema.Array(Schema.String)
}) {
  override get message() {
    const more = this.places.length > 10 ? ` and ${this.places.length - 10} more` : ""
    return `Neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS opens ${
      this.places.slice(0, 10).join(", ")
    }${more}. All other values are rotated. Restore these values or delete their rows, then run this again; until then no node starts without ENCRYPTION_KEY_PREVIOUS.`
  }
}

/** Another process still seals under another main key. */
class StillSealing
  extends Schema.TaggedError<StillSealing>()("StillSealing", { columns: Schema.Array(Schema.String) })
{
  override get message() {
    return `A node still seals under another key: it wrote new values to ${
      this.columns.join(", ")
    }. Restart every node with the new ENCRYPTION_KEY and with ENCRYPTION_KEY_PREVIOUS, then run this again.`
  }
}

const Row = Schema.Struct({
  key: Schema.String,
  parts: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  sealed: Schema.Uint8Array
})
type Row = typeof Row.Type

interface Found {
  /** Values to rewrap, including those that a node was changing. */
  readonly seen: number
  readonly rewrapped: number
  readonly unreadable: ReadonlyArray<string>
}

/** The statements of one column. A row's key is one JSON array, which only PostgreSQL reads. */
const statements = (of: SealedColumn) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { keyId } = yield* Vault
    const [table, value] = [sql.literal(of.table), sql.literal(of.column)]
    const parts = sql.literal(of.parts.map((name) => `s.${name}`).join(", "))
    const valuesOf = (key: Statement.Fragment) =>
      sql.csv(of.key.map(([, type], index) => sql`(${key}::jsonb ->> ${sql.literal(`${index})::${type}`)}`))
    const keyOf = (alias: string) => sql.literal(of.key.map(([name]) => `${alias}.${name}`).join(", "))
    const foreign = sql`s.${value} is not null and substring(s.${value} from 2 for 4) <> ${keyId}`
    const chunk = Query.findAll({
      Request: Schema.NullOr(Schema.String),
      Result: Row,
      execute: (after) =>
        sql`select jsonb_build_array(${keyOf("s")})::text as key, jsonb_build_array(${parts}) as parts,
            s.${value} as sealed
          from ${table} s
          where ${foreign} and ${after === null ? sql`true` : sql`(${keyOf("s")}) > (${valuesOf(sql`${after}::text`)})`}
          order by ${keyOf("s")} limit ${chunkSize}`
    })
    const count = Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ left: Schema.Int }),
      execute: () => sql`select count(*) as left from ${table} s where ${foreign}`
    })
    // It skips rows that a node has locked, so it cannot deadlock; the next pass finds them.
    const write = (rows: ReadonlyArray<Row & { readonly fresh: Uint8Array }>) =>
      Query.rowCount(sql`update ${table} t set ${value} = v.fresh
        from (
          select ${keyOf("s")}, v.fresh
          from unnest(${parameter.text(rows.map(({ key }) => key))},
            ${parameter.bytea(rows.map(({ sealed }) => sealed))},
            ${parameter.bytea(rows.map(({ fresh }) => fresh))}) as v (key, was, fresh)
          join ${table} s on (${keyOf("s")}) = (${valuesOf(sql`v.key`)}) and s.${value} = v.was
          for update of s skip locked
        ) v
        where (${keyOf("t")}) = (${keyOf("v")})
        returning true`)
    return { chunk, count, write }
  })

/** Counts the values of a column that are not under the current main key. */
const countLeft = Effect.fnUntraced(function*(of: SealedColumn) {
  const { count } = yield* statements(of)
  return (yield* count()).left
})

/** One pass through a column. */
const pass = Effect.fnUntraced(function*<E>(of: SealedColumn, report: (rewrapped: number) => Effect.Effect<void, E>) {
  const vault = yield* Vault
  const { chunk, write } = yield* statements(of)
  const unreadable: Array<string> = []
  let [seen, rewrapped] = [0, 0]
  let last: string | null = null
  while (true) {
    const rows: ReadonlyArray<Row> = yield* chunk(last)
    const fresh = yield* Effect.forEach(
      rows,
      (row) =>
        Effect.map(Effect.option(vault.rewrap(of.what(...row.parts), row.sealed)), (value) => ({ ...row, value }))
    )
    const done = fresh.flatMap(({ value, ...row }) => Option.isSome(value) ? [{ ...row, fresh: value.value }] : [])
    unreadable.push(...fresh.filter(({ value }) => Option.isNone(value)).map(({ key }) => `${nameOf(of)} ${key}`))
    if (done.length > 0) {
      seen += done.length
      rewrapped += yield* write(done)
      yield* report(rewrapped)
    }
    last = rows.at(-1)?.key ?? last
    if (rows.length < chunkSize) return { seen, rewrapped, unreadable } satisfies Found
  }
})

/** Counts the values of these columns that are not under the current main key. */
export const countForeign = (columns: ReadonlyArray<SealedColumn>) =>
  Effect.map(Effect.forEach(columns, countLeft), (counts) => counts.reduce((sum, left) => sum + left, 0))

/**
 * Rewraps these columns until a pass over all of them finds nothing under another main key, then `last`. Succeeds only
 * when nothing is left. It calls `report` after every chunk; a failure of `report` stops the rotation.
 */
export const rotateMainKey = Effect.fn("rotateMainKey")(function*<E>(
  { columns, last }: { readonly columns: ReadonlyArray<SealedColumn>; readonly last: SealedColumn },
  report: (column: string, rewrapped: number) => Effect.Effect<void, E>
) {
  const passThrough = (of: SealedColumn) => pass(of, (rewrapped) => report(nameOf(of), rewrapped))
  let total = 0
  for (let count = 0; count < maxPasses; count++) {
    const found = yield* Effect.forEach(columns, passThrough)
    total += found.reduce((sum, { rewrapped }) => sum + rewrapped, 0)
    if (found.some(({ seen }) => seen > 0)) continue
    const places = found.flatMap(({ unreadable }) => unreadable)
    if (places.length > 0) return yield* new SecretsUnreadable({ places })
    return total + (yield* passThrough(last)).rewrapped
  }
  const left = yield* Effect.filter(columns, (of) => Effect.map(countLeft(of), (count) => count > 0))
  return yield* new StillSealing({ columns: left.map(nameOf) })
})
