/**
 * Migrates the database: each `sql/NNNN_subject.sql` runs once, in the order of the numbers, forward only.
 *
 * Each file runs in one transaction with its record in the table `migrations`, so it applies entirely or not at all. The
 * transaction first takes an advisory lock: when several nodes start at once, one runs the file and the others skip it. The
 * lock ends with the transaction, so a connection pooler may stand in between.
 *
 * An empty database gets `sql/schema.sql` instead, the sum of all files, with their records: a fifth of the work.
 *
 * A file waits only briefly for a table in use, because all later statements on that table queue behind it. Then it lets
 * them pass and tries again. It does the same when PostgreSQL ends it in a deadlock with a running node, which may take the
 * same tables in another order.
 */
import { Cause, Effect, FileSystem, Option, Predicate, Schedule, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import * as NodeUrl from "node:url"
import { MigrationBlocked, MigrationFailed, MigrationMisnamed } from "./MigrationErrors.ts"
import { nextMigration } from "./nextMigration.ts"
import { outageIn } from "./unavailable.ts"

/** The migrations of this program, independent of the working directory. */
export const directory = NodeUrl.fileURLToPath(new URL("../../../sql", import.meta.url))

interface MigrationFile {
  readonly name: string
  readonly sha256: string
  readonly content: string
}

const namePattern = /^\d{4}_[a-z0-9_]+\.sql$/

/** The file with the result of all migrations, written by scripts/schema.ts. */
export const sumName = "schema.sql"

/** The first line of the sum. An older sum than the migrations is not used. */
export const sumHeader = (last: string) =>
  `-- The sum of all migrations until ${last}, which an empty database gets instead. Written by scripts/schema.ts.\n`

/** The names of the migrations, in the order in which they run. */
export const names = Effect.fn("Migrations.names")(function*(from: string) {
  const fs = yield* FileSystem.FileSystem
  const found = (yield* fs.readDirectory(from).pipe(Effect.orDie))
    .filter((name) => name.endsWith(".sql") && name !== sumName)
    .sort()
  for (const [index, name] of found.entries()) {
    if (!namePattern.test(name) || found[index - 1]?.slice(0, 4) === name.slice(0, 4)) {
      return yield* new MigrationMisnamed({ file: name })
    }
  }
  return found
})

/**
 * Runs the missing migrations and returns their names. Fails with one sentence for the operator, or with the SqlError
 * of a lost connection.
 */
export const migrate = Effect.fn("Migrations.migrate")(function*(from: string) {
  const files = yield* Effect.forEach(yield* names(from), (name) => read(from, name))
  const sum = yield* sumOf(from, files)
  const ran: Array<string> = []
  while (true) {
    const names = yield* Effect.retry(step(files, sum), { while: isBlocked, ...retries })
    if (names.length === 0) return ran
    yield* Effect.logDebug(`migrated the database: ${names.join(", ")}`)
    ran.push(...names)
  }
})

const read = Effect.fn("Migrations.read")(function*(from: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const content = yield* fs.readFileString(`${from}/${name}`).pipe(Effect.orDie)
  const sha256 = NodeCrypto.createHash("sha256").update(content).digest("hex")
  return { name, sha256, content } satisfies MigrationFile
})

const sumOf = Effect.fnUntraced(function*(from: string, files: ReadonlyArray<MigrationFile>) {
  const fs = yield* FileSystem.FileSystem
  const last = files.at(-1)
  if (last === undefined || !(yield* fs.exists(`${from}/${sumName}`).pipe(Effect.orDie))) return Option.none()
  const sum = yield* read(from, sumName)
  return sum.content.startsWith(sumHeader(last.name)) ? Option.some(sum) : Option.none()
})

const lockTimeout = "2s"

/** A pause for the statements that queued, and at most a minute in all. */
const retries = { schedule: Schedule.spaced("1 second"), times: 19 }

const isBlocked = Schema.is(MigrationBlocked)

/** Arbitrary, but the same in every version of this program. */
const lockKey = 7_236_150_418

/** Runs the first missing file, if any, or the sum on an empty database. Returns the names of the migrations. */
const step = Effect.fn("Migrations.step")(function*(
  files: ReadonlyArray<MigrationFile>,
  sum: Option.Option<MigrationFile>
) {
  const sql = yield* SqlClient.SqlClient
  const applied = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ name: Schema.String, sha256: Schema.String }),
    execute: () => sql`select name, sha256 from migrations order by name collate "C"`
  })
  return yield* sql.withTransaction(Effect.gen(function*() {
    yield* sql`select pg_advisory_xact_lock(${lockKey})`
    yield* sql`
      create table if not exists migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`
    yield* sql`select set_config('lock_timeout', ${lockTimeout}, true)`
    const rows = yield* applied().pipe(Effect.catchTag("SchemaError", Effect.die))
    const next = yield* Effect.fromResult(nextMigration(files, rows))
    const isEmpty = rows.length === 0 && Option.isSome(sum)
    const done = isEmpty ? files : Option.toArray(next)
    yield* Effect.forEach(isEmpty ? Option.toArray(sum) : done, execute)
    const names = done.map(({ name }) => name)
    yield* sql`insert into migrations (name, sha256)
      select * from unnest(${names}::text[], ${done.map(({ sha256 }) => sha256)}::text[])`
    return names
  }))
})

/**
 * The client's protocol accepts one statement at a time. PL/pgSQL's `execute` runs a whole file and refuses its `begin`
 * and `commit`.
 */
const execute = Effect.fn("Migrations.execute")(function*(file: MigrationFile) {
  const sql = yield* SqlClient.SqlClient
  const quote = `$migration_${file.sha256.slice(0, 16)}$`
  const block = `$block_${file.sha256.slice(0, 16)}$`
  yield* sql.unsafe(`do ${block} begin execute ${quote}${file.content}${quote}; end ${block}`).unprepared.pipe(
    Effect.mapError((error) =>
      error.reason._tag === "LockTimeoutError" || error.reason._tag === "DeadlockError"
        ? new MigrationBlocked({ file: file.name })
        : Option.isSome(outageIn(Cause.fail(error)))
        ? error
        : failureOf(file, error)
    )
  )
})

const failureOf = (file: MigrationFile, error: SqlError.SqlError) => {
  const { cause } = error.reason
  const position = Predicate.hasProperty(cause, "internalPosition") ? Number(cause.internalPosition) : Number.NaN
  return new MigrationFailed({
    file: file.name,
    ...(Number.isInteger(position) ? { line: file.content.slice(0, position - 1).split("\n").length } : {}),
    reason: Predicate.isError(cause) ? cause.message : error.message
  })
}
