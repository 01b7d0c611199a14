/**
 * Measures the list of all messages of one account, beside as many of others: a page at the end compared with the first one,
 * and searches for words from the rarest to those of every third message. Then the timeline of a message of 29 days beside
 * many attempts. Then what scheduled messages cost while they wait. BENCH_MESSAGES, BENCH_ATTEMPTS and BENCH_SCHEDULED are
 * the sizes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AllMessages, type SummaryFilter } from "../../src/history/AllMessages.ts"
import { Timelines } from "../../src/history/Timelines.ts"
import { SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { directory, migrate } from "../../src/platform/database/Migrations.ts"
import { AccountId } from "../../src/values/Ids.ts"
import type { Position } from "../../src/values/Page.ts"
import { cpuOfChildren } from "./support/cpuTime.ts"
import { fillAttempts, fillMessages } from "./support/manyMessages.ts"
import { measureScheduled } from "./support/scheduledMessages.ts"
import { type BenchDatabase, client, postmasterOf, startDatabase } from "./support/service.ts"
import { median, printTable } from "./support/table.ts"

const messages = Number(process.env["BENCH_MESSAGES"] ?? 200_000)
const attempts = Number(process.env["BENCH_ATTEMPTS"] ?? 1_000_000)
const scheduled = Number(process.env["BENCH_SCHEDULED"] ?? 200_000)
const account = AccountId.make(1)
const pageSize = 50

const none: SummaryFilter = { tags: [], metadata: {} }

const millisOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(effect, (value) => ({ millis: performance.now() - began, value }))
  })

const p95 = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0

const searches: ReadonlyArray<readonly [string, ReadonlyArray<SummaryFilter>]> = [
  ["a rare word", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${15_000 + 111 * i}` }))],
  ["a common word", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${i}` }))],
  ["a word of some", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${200 + 37 * i}` }))],
  ["two words", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${i} w${300 + 31 * i}` }))],
  ["the beginning of many words", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${1 + i % 9}` }))],
  ["a word that no message has", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `absent${i}` }))],
  ["a recipient", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `reader${2 * i}` }))],
  ["the beginning of an address", Array.from({ length: 40 }, (_, i) => ({ ...none, to: `reader${i}` }))],
  ["the beginning of a number", Array.from({ length: 40 }, (_, i) => ({ ...none, to: `+2507100${i}` }))],
  ["the domain of all senders", Array.from({ length: 40 }, () => ({ ...none, domain: "bench.example" }))],
  ["a domain that no sender has", Array.from({ length: 40 }, (_, i) => ({ ...none, domain: `absent${i}.example` }))],
  ["a rare key", Array.from({ length: 40 }, (_, i) => ({ ...none, key_id: 2 * i }))],
  [
    "a domain and a status",
    Array.from({ length: 40 }, () => ({ ...none, domain: "bench.example", status: "bounced" }))
  ],
  ["a word and a status", Array.from({ length: 40 }, (_, i) => ({ ...none, q: `w${i}`, status: "bounced" }))]
]

const measure = Effect.fnUntraced(function*(database: BenchDatabase) {
  const all = yield* AllMessages
  const list = (filter: SummaryFilter, after: Position | null = null) =>
    all.list({ accountId: account, channels: new Set(SummaryChannel.literals) }, filter, {
      limit: pageSize + 1,
      offset: 0,
      after
    })
  const sql = yield* SqlClient.SqlClient
  const [ends] =
    yield* sql`select (select id from email_messages where account_id = 1 order by id offset 200 limit 1) as email,
    (select id from messages where account_id = 1 order by id offset 200 limit 1) as text`
  const last = [Number(ends?.["email"]), Number(ends?.["text"]), Number(ends?.["text"])]
  const pages = { first: [] as Array<number>, last: [] as Array<number> }
  for (let round = 0; round < 60; round++) {
    pages.first.push((yield* millisOf(list(none))).millis)
    pages.last.push((yield* millisOf(list(none, last))).millis)
  }
  const postmaster = postmasterOf(database)
  const before = cpuOfChildren(postmaster)
  const times = yield* Effect.forEach(searches, ([name, filters]) =>
    Effect.gen(function*() {
      const runs = yield* Effect.forEach([...filters, ...filters], (filter) => millisOf(list(filter)))
      const found = runs.reduce((sum, { value }) => sum + value.length, 0) / runs.length
      return { name: `${name} (${found.toFixed(0)} of ${pageSize + 1} rows)`, millis: runs.map(({ millis }) => millis) }
    }))
  const count = times.reduce((sum, { millis }) => sum + millis.length, 0)
  const cpu = (cpuOfChildren(postmaster) - before) / 1_000 / count
  yield* printTable(`messages: a list of ${messages.toLocaleString("en-US")} messages of one account`, [
    {
      metric: "the last page, p95 ms",
      value: p95(pages.last),
      limit: { name: "the first page", value: p95(pages.first) }
    },
    ...times.map(({ millis, name }) => ({
      metric: `search for ${name}, p95 ms`,
      value: p95(millis),
      limit: { name: "the aim", value: 50 }
    })),
    {
      metric: "all searches, p95 ms",
      value: p95(times.flatMap(({ millis }) => millis)),
      limit: { name: "the aim", value: 50 }
    },
    { metric: "CPU of PostgreSQL for a search, mean ms", value: cpu }
  ])
})

/** Milliseconds that PostgreSQL has worked on statements. Its sessions report them after ten seconds without one. */
const worked = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.sleep("11 seconds")
  const [row] = yield* sql`select active_time from pg_stat_database where datname = current_database()`
  return Number(row?.["active_time"])
})

const measureTimeline = Effect.gen(function*() {
  const timelines = yield* Timelines
  const read = millisOf(timelines.read({ accountId: account, channel: "email", id: 2 }))
  const entries = (yield* read).value.length
  const before = yield* worked
  const millis: Array<number> = []
  for (let round = 0; round < 200; round++) millis.push((yield* read).millis)
  const database = ((yield* worked) - before) / millis.length
  const aim = { name: "the aim", value: 5 }
  yield* printTable(`messages: a timeline beside ${attempts.toLocaleString("en-US")} attempts`, [
    { metric: `${entries} entries over 29 days, mean ms of PostgreSQL`, value: database, limit: aim },
    { metric: "with the node's work, median ms", value: median(millis) }
  ])
})

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  yield* migrate(directory).pipe(
    Effect.andThen(fillMessages(messages)),
    Effect.andThen(Effect.provide(measure(database), AllMessages.layer)),
    Effect.andThen(fillAttempts(attempts)),
    Effect.andThen(Effect.provide(measureTimeline, Timelines.layer)),
    Effect.provide(client(database))
  )
  yield* measureScheduled(scheduled)
})

NodeRuntime.runMain(Effect.scoped(bench).pipe(Effect.provide(NodeServices.layer)))
