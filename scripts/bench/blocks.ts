/**
 * The project's own low-level parts beside what the libraries offer for the same work: codecs of ids and timestamps beside
 * the client's own codecs, and group commit beside one statement for each caller. The SMTP pool is measured by `smtp`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import * as PgCodecs from "../../src/platform/database/PgCodecs.ts"
import { GroupCommit } from "../../src/platform/work/GroupCommit.ts"
import { client, startDatabase } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 7
const callers = 64
const rowsEach = 50

const ids = Array.from({ length: 100 }, (_, index) => 1_000_000_007 + index * 7_919)

/** Calls in 100 ms of code that only computes. */
const rate = (run: () => unknown) => {
  const until = performance.now() + 100
  let calls = 0
  for (; performance.now() < until; calls++) run()
  return calls
}

/** The median of the rounds' ratios; both sides take turns, because the machine is not equally fast all the time. */
const paired = (metric: string, ours: () => unknown, [name, theirs]: readonly [string, () => unknown]): Line => {
  rate(ours)
  rate(theirs)
  const measured = Array.from({ length: rounds }, () => ({ ours: rate(ours), theirs: rate(theirs) }))
  return {
    metric,
    value: median(measured.map(({ ours }) => ours)),
    limit: { value: median(measured.map(({ theirs }) => theirs)), name },
    ratio: median(measured.map(({ ours, theirs }) => ours / theirs))
  }
}

const write = (parameter: PgTypes.Parameter, registry?: PgTypes.Registry) =>
  Result.getOrThrow(PgTypes.encodeParameter(parameter, registry))

const bytes = Result.getOrThrow(PgTypes.encode(new Date(1_767_225_600_123), PgTypes.OID.timestamptz))

const codecs = () => [
  paired(
    "columns of 100 ids written",
    () => write(column.int8(ids), PgCodecs.registry),
    [
      "the client's codec, from numbers",
      () => write(Result.getOrThrow(PgTypes.array(ids.map(BigInt), PgTypes.OID.int8)))
    ]
  ),
  paired(
    "timestamps read as text",
    () => Result.getOrThrow(PgTypes.decode(bytes, PgTypes.OID.timestamptz, 1, PgCodecs.registry)),
    [
      "the client's Date, formatted (milliseconds only)",
      () => {
        const date = Result.getOrThrow(PgTypes.decode(bytes, PgTypes.OID.timestamptz, 1))
        return date instanceof Date ? date.toISOString() : undefined
      }
    ]
  )
]

/** Rows per second of callers that each insert one row after the other and wait for its commit. */
const insertRate = Effect.fnUntraced(function*(insert: (id: number) => Effect.Effect<unknown, unknown>) {
  const start = performance.now()
  yield* Effect.forEach(
    Array.from({ length: callers }, (_, caller) => caller),
    (caller) =>
      Effect.forEach(Array.from({ length: rowsEach }, (_, row) => caller * rowsEach + row), insert, { discard: true }),
    { concurrency: "unbounded", discard: true }
  )
  return (callers * rowsEach) / ((performance.now() - start) / 1_000)
})

const groupCommit = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table entries (id bigint, at timestamptz not null default now())`
  const grouped = yield* GroupCommit.make({
    maxSize: 500,
    concurrency: 2,
    run: (group: ReadonlyArray<number>) =>
      Effect.as(sql`insert into entries (id) select * from unnest(${column.int8(group)})`, group)
  })
  const single = (id: number) => sql`insert into entries (id) values (${id}::bigint)`
  yield* insertRate(grouped)
  yield* insertRate(single)
  const measured = yield* Effect.forEach(
    Array.from({ length: rounds }),
    () => Effect.all({ ours: insertRate(grouped), theirs: insertRate(single) })
  )
  return {
    metric: `rows/s of ${callers} callers, one row each at a time`,
    value: median(measured.map(({ ours }) => ours)),
    limit: { value: median(measured.map(({ theirs }) => theirs)), name: "one statement for each caller" },
    ratio: median(measured.map(({ ours, theirs }) => ours / theirs))
  } satisfies Line
})

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const committed = yield* Effect.provide(groupCommit, client(database))
  yield* printTable("Own low-level parts beside the libraries'", [...codecs(), committed])
})

NodeRuntime.runMain(Effect.scoped(bench).pipe(Effect.provide(NodeServices.layer)))
