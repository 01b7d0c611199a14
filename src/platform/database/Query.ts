/**
 * Statements whose failures are defects. A repository uses these forms of `SqlSchema`, so that no caller sees a
 * `SqlError` or a `SchemaError`; {@link isDatabaseUnavailable} still recognises the defect of a database that is away.
 *
 * An expected refusal of the database becomes an outcome within `execute`, and every other failure stays a defect:
 * `Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new EmailTaken()))`.
 */
import { Cause, Effect, Schema } from "effect"
import { type SqlClient, SqlError, SqlSchema, type Statement as SqlStatement } from "effect/sql"
import { maxRows, type PageOf, type Position, type Sort, type Window } from "../../values/Page.ts"
import type { QuickReads } from "./QuickReads.ts"

/** Failures that no caller can handle. */
type Fault = SqlError.SqlError | Schema.SchemaError | Cause.NoSuchElementError

const isFault = (error: unknown): error is Fault =>
  SqlError.isSqlError(error) || Schema.isSchemaError(error) || Cause.isNoSuchElementError(error)

const faultsAsDefects = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, Fault>, R> =>
  Effect.catch(
    effect,
    // The compiler does not narrow a generic E by the check.
    (error) => isFault(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, Fault>)
  )

interface Statement<Req extends Schema.Constraint, E, R> {
  readonly Request: Req
  readonly execute: (request: Req["Encoded"]) => Effect.Effect<ReadonlyArray<unknown>, E, R>
}

interface Select<Req extends Schema.Constraint, Res extends Schema.Constraint, E, R> extends Statement<Req, E, R> {
  readonly Result: Res
}

/** All rows. */
export const findAll = <Req extends Schema.Constraint, Res extends Schema.Constraint, E, R>(
  select: Select<Req, Res, E, R>
) => {
  const find = SqlSchema.findAll(select)
  return (request: Req["Type"]) => faultsAsDefects(find(request))
}

/** The first row of a statement that always has one. */
export const findOne = <Req extends Schema.Constraint, Res extends Schema.Constraint, E, R>(
  select: Select<Req, Res, E, R>
) => {
  const find = SqlSchema.findOne(select)
  return (request: Req["Type"]) => faultsAsDefects(find(request))
}

/** The first row, if any. */
export const findOneOption = <Req extends Schema.Constraint, Res extends Schema.Constraint, E, R>(
  select: Select<Req, Res, E, R>
) => {
  const find = SqlSchema.findOneOption(select)
  return (request: Req["Type"]) => faultsAsDefects(find(request))
}

const void_ = <Req extends Schema.Constraint, E, R>(statement: Statement<Req, E, R>) => {
  const execute = SqlSchema.void(statement)
  return (request: Req["Type"]) => faultsAsDefects(execute(request))
}
export {
  /** Runs a statement and ignores its rows. */
  void_ as void
}

interface Lookup<Req, Res extends Schema.Constraint> {
  readonly Result: Res
  /** With `$1`, `$2` and so on. */
  readonly statement: string
  readonly values: (request: Req) => ReadonlyArray<unknown>
}

/**
 * All rows of a statement that travels with those of other requests: a read by an index ({@link QuickReads}), or an insert of
 * one row (`QuickWrites`).
 */
export const lookup = <Req, Res extends Schema.Constraint>(
  quick: QuickReads["Service"],
  { Result, statement, values }: Lookup<Req, Res>
) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(Result))
  return (request: Req) => faultsAsDefects(Effect.flatMap(quick.rows(statement, values(request)), decode))
}

/** Runs a statement that needs no schema, such as a lock or a delete, and ignores its rows. */
export const run = <E, R>(statement: Effect.Effect<unknown, E, R>): Effect.Effect<void, Exclude<E, Fault>, R> =>
  faultsAsDefects(Effect.asVoid(statement))

/** Runs a statement that needs no schema, such as `delete … returning 1`, and counts the rows that it returns. */
export const rowCount = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<number, Exclude<E, Fault>, R> => faultsAsDefects(Effect.map(statement, (rows) => rows.length))

/** The statement that counts the rows of a list, from its `from` on. It stops after the last row that a page can reach. */
export const totalOf = (sql: SqlClient.SqlClient, rows: SqlStatement.Fragment) =>
  sql`select count(*) as total from (select ${rows} limit ${maxRows}) counted`

/**
 * Reads a window of a list and its total. It counts first, so that a page contains every counted row. Behind a cursor it
 * does not count.
 */
export const windowOf = <F extends Window, A>(
  repo: {
    readonly count: (filter: F) => Effect.Effect<{ readonly total: number }>
    readonly list: (filter: F) => Effect.Effect<ReadonlyArray<A>>
  },
  filter: F
): Effect.Effect<PageOf<A>> =>
  Effect.gen(function*() {
    const total = filter.after === null ? (yield* repo.count(filter)).total : null
    return { rows: yield* repo.list(filter), total }
  })

interface Start {
  readonly after: Position | null
  readonly sort?: Sort
}

const isBehind = ({ sort }: Start) => sort === "created_at" ? ">" : "<"

/** The condition that rows of a list in the order of an id follow the window's position. */
export const afterId = (sql: SqlClient.SqlClient, id: string, start: Start) =>
  start.after === null
    ? sql`true`
    : sql`${sql.literal(`${id} ${isBehind(start)}`)} ${start.after[0]}::bigint`

/** The condition that rows of a list in the order of `created_at` and a text `id` follow the window's position. */
export const afterTime = (sql: SqlClient.SqlClient, start: Start) =>
  start.after === null
    ? sql`true`
    : sql`(created_at, id) ${sql.literal(isBehind(start))} (${start.after[0]}::timestamptz, ${start.after[1]}::text)`
