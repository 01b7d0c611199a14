/**
 * Brings sealed values under the main key in force, column by column, while nodes read and write them. Only data keys
 * are wrapped anew, five hundred rows at a time, each chunk in a statement of its own, so it can be stopped at any point:
 * what is done is told from what is not by the id of the main key in each value, and the next run goes on there. A value
 * that somebody changes in the meantime is left to them: they seal under the main key in force, or move it, and the
 * next look at all columns finds it.
 */
import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { column as parameter } from "../database/column.ts"
import { nameOf, type SealedColumn } from "./SealedColumn.ts"
import { Vault } from "./Vault.ts"

const chunkSize = 500

/** Nodes under the new key seal nothing under the old one: a look after the first finds rows that were locked, or moved. */
const looks = 20

/** Values that neither main key opens. They were unreadable before: a rotation neither heals nor forgets them. */
class SecretsUnreadable extends Schema.TaggedError<SecretsUnreadable>()("SecretsUnreadable", {
  places: Schema.Array(Schema.String)
}) {
  override get message() {
    const more = this.places.length > 10 ? ` and ${this.places.length - 10} more` : ""
    return `Neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS opens ${
      this.places.slice(0, 10).join(", ")
    }${more}. All else is rotated. Restore these values or delete their rows, then run this again; until then no node starts without ENCRYPTION_KEY_PREVIOUS.`
  }
}

/** Somebody goes on sealing under another key than ours. */
class StillSealing
  extends Schema.TaggedError<StillSealing>()("StillSealing", { columns: Schema.Array(Schema.String) })
{
  override get message() {
    return `Some node still seals under another key: new values came up in ${
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
  /** Values to rewrap; some may have been left to a node that was changing them. */
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
    const chunk = SqlSchema.findAll({
      Request: Schema.NullOr(Schema.String),
      Result: Row,
      execute: (after) =>
        sql`select jsonb_build_array(${keyOf("s")})::text as key, jsonb_build_array(${parts}) as parts,
            s.${value} as sealed
          from ${table} s
          where ${foreign} and ${after === null ? sql`true` : sql`(${keyOf("s")}) > (${valuesOf(sql`${after}::text`)})`}
          order by ${keyOf("s")} limit ${chunkSize}`
    })
    const count = SqlSchema.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ left: Schema.Int }),
      execute: () => sql`select count(*) as left from ${table} s where ${foreign}`
    })
    // It never waits for a row that a node has locked, so it takes no part in a deadlock; the next look finds that row.
    const write = (rows: ReadonlyArray<Row & { readonly fresh: Uint8Array }>) =>
      sql`update ${table} t set ${value} = v.fresh
        from (
          select ${keyOf("s")}, v.fresh
          from unnest(${parameter.text(rows.map(({ key }) => key))},
            ${parameter.bytea(rows.map(({ sealed }) => sealed))},
            ${parameter.bytea(rows.map(({ fresh }) => fresh))}) as v (key, was, fresh)
          join ${table} s on (${keyOf("s")}) = (${valuesOf(sql`v.key`)}) and s.${value} = v.was
          for update of s skip locked
        ) v
        where (${keyOf("t")}) = (${keyOf("v")})
        returning true`
    return { chunk, count, write }
  })

/** How many values of a column are not under the main key in force. */
const leftOf = Effect.fnUntraced(function*(of: SealedColumn) {
  const { count } = yield* statements(of)
  return (yield* Effect.orDie(count())).left
})

/** One walk through a column. */
const walk = Effect.fnUntraced(function*<E>(of: SealedColumn, report: (rewrapped: number) => Effect.Effect<void, E>) {
  const vault = yield* Vault
  const { chunk, write } = yield* statements(of)
  const unreadable: Array<string> = []
  let [seen, rewrapped] = [0, 0]
  let last: string | null = null
  while (true) {
    const rows: ReadonlyArray<Row> = yield* Effect.orDie(chunk(last))
    const fresh = yield* Effect.forEach(
      rows,
      (row) =>
        Effect.map(Effect.option(vault.rewrap(of.what(...row.parts), row.sealed)), (value) => ({ ...row, value }))
    )
    const done = fresh.flatMap(({ value, ...row }) => Option.isSome(value) ? [{ ...row, fresh: value.value }] : [])
    unreadable.push(...fresh.filter(({ value }) => Option.isNone(value)).map(({ key }) => `${nameOf(of)} ${key}`))
    if (done.length > 0) {
      seen += done.length
      rewrapped += (yield* Effect.orDie(write(done))).length
      yield* report(rewrapped)
    }
    last = rows.at(-1)?.key ?? last
    if (rows.length < chunkSize) return { seen, rewrapped, unreadable } satisfies Found
  }
})

/** How many values of these columns are not under the main key in force. */
export const countForeign = (columns: ReadonlyArray<SealedColumn>) =>
  Effect.map(Effect.forEach(columns, leftOf), (counts) => counts.reduce((sum, left) => sum + left, 0))

/**
 * Rewraps what these columns have under another main key, until a look at all of them finds nothing, then `last`.
 * Succeeds only when nothing is left; `report` is told of every chunk and may stop the rotation.
 */
export const rotateMainKey = Effect.fn("rotateMainKey")(function*<E>(
  { columns, last }: { readonly columns: ReadonlyArray<SealedColumn>; readonly last: SealedColumn },
  report: (column: string, rewrapped: number) => Effect.Effect<void, E>
) {
  const walkOf = (of: SealedColumn) => walk(of, (rewrapped) => report(nameOf(of), rewrapped))
  let total = 0
  for (let look = 0; look < looks; look++) {
    const found = yield* Effect.forEach(columns, walkOf)
    total += found.reduce((sum, { rewrapped }) => sum + rewrapped, 0)
    if (found.some(({ seen }) => seen > 0)) continue
    const places = found.flatMap(({ unreadable }) => unreadable)
    if (places.length > 0) return yield* new SecretsUnreadable({ places })
    return total + (yield* walkOf(last)).rewrapped
  }
  const left = yield* Effect.filter(columns, (of) => Effect.map(leftOf(of), (count) => count > 0))
  return yield* new StillSealing({ columns: left.map(nameOf) })
})
