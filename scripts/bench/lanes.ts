/**
 * Measures how a batch delays single emails: the time from the request until the relay has the message, while a batch
 * of 500 is in flight, compared with the idle node, in turns. Single emails start by the clock, whether or not earlier
 * ones have ended. Both ends read the machine's monotonic clock. BENCH_BASE names the checkout of another version with its
 * packages: both then take turns, round by round, and the limit is that version's delay. BENCH_OURS names another checkout
 * than this one.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Context, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodePath from "node:path"
import { html, recipients, subject } from "./support/mail.ts"
import { startRelay } from "./support/relay.ts"
import { client, createAccount, startDatabase, startService } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const size = 500
/** Short rounds, so that a stall of the machine affects few of them. */
const singles = 200
const rounds = 9
/** Before the clock starts. */
const warmUp = 500
const every = 25
const connections = 5

const now = () => Number(process.hrtime.bigint())

/** A node of a version, with its database and its relay. */
const start = Effect.fnUntraced(function*(checkout: string) {
  const main = NodePath.join(checkout, "src/main.ts")
  const database = yield* startDatabase
  const relay = yield* startRelay()
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=never`, SMTP_CONNECTIONS: String(connections) }
  const { port } = yield* startService(database, { env, main })
  const { key } = yield* createAccount(main, database)
  const post = (path: string, body: object) =>
    Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/v1/email/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      }).then(async (response) => ({ status: response.status, text: await response.text() }))
    ).pipe(Effect.filterOrElse(({ status }) => status < 300, ({ text }) => Effect.die(text)))
  const sql = Context.get(yield* Layer.build(client(database)), SqlClient.SqlClient)
  return { post, relay, sql }
})

type Setup = Effect.Success<ReturnType<typeof start>>

let sent = 0

/** Sends single emails by the clock, up to a count or while a condition holds. */
const sendSingles = Effect.fnUntraced(
  function*({ post }: Setup, { most, until }: { readonly most: number; readonly until: Effect.Effect<boolean> }) {
    const startedAt = new Map<string, number>()
    const asked: Array<Fiber.Fiber<unknown>> = []
    const begin = performance.now()
    while (startedAt.size < most && !(yield* until)) {
      yield* Effect.sleep(Math.max(0, begin + startedAt.size * every - performance.now()))
      const to = `single${++sent}@recipient.example`
      startedAt.set(to, now())
      asked.push(yield* Effect.forkChild(post("send", { to, subject: "Your code", text: "It is 123456." })))
    }
    yield* Effect.forEach(asked, Fiber.join, { discard: true })
    return startedAt
  }
)

/** Milliseconds until the relay had each single email. */
const took = Effect.fnUntraced(function*({ relay }: Setup, startedAt: ReadonlyMap<string, number>) {
  const arrived = new Map<string, number>()
  yield* relay.arrivals.pipe(
    Effect.tap((news) => Effect.sync(() => news.forEach(([to, at]) => arrived.set(to, at)))),
    Effect.repeat({ until: () => arrived.size >= startedAt.size, schedule: Schedule.spaced("20 millis") })
  )
  return Array.from(startedAt, ([to, at]) => ((arrived.get(to) ?? Number.NaN) - at) / 1e6)
})

/** Sends single emails from the acceptance of a batch until its end. */
const besideBatch = Effect.fnUntraced(function*(setup: Setup) {
  yield* setup.post("send-bulk", { subject, html, recipients: recipients(size) })
  let ended = false
  const watching = yield* Effect.forkChild(
    setup.sql`select count(*) as open from email_batches where completed_at is null`.pipe(
      Effect.repeat({ until: ([row]) => Number(row?.["open"]) === 0, schedule: Schedule.spaced("20 millis") }),
      Effect.andThen(Effect.sync(() => {
        ended = true
      }))
    )
  )
  const startedAt = yield* sendSingles(setup, { most: singles, until: Effect.sync(() => ended) })
  yield* Fiber.join(watching)
  return yield* took(setup, startedAt)
})

const alone = Effect.fnUntraced(function*(setup: Setup, most: number) {
  return yield* took(setup, yield* sendSingles(setup, { most, until: Effect.succeed(false) }))
})

/** Alternates a batch and as many single emails without one, until there are enough of both. */
const measure = Effect.fnUntraced(function*(setup: Setup, enough: number) {
  const beside: Array<number> = []
  const idle: Array<number> = []
  while (beside.length < enough) {
    const times = yield* besideBatch(setup)
    beside.push(...times)
    idle.push(...yield* alone(setup, times.length))
  }
  return { beside: beside.toSorted((a, b) => a - b), idle: idle.toSorted((a, b) => a - b) }
})

type Round = Effect.Success<ReturnType<typeof measure>>

const at = (millis: ReadonlyArray<number>, part: number) =>
  millis[Math.min(millis.length - 1, Math.floor(millis.length * part))] ?? 0

const parts = [["p50", 0.5], ["p75", 0.75], ["p90", 0.9], ["p95", 0.95], ["p99", 0.99], ["max", 1]] as const

const linesOf = (runs: ReadonlyArray<Round>): ReadonlyArray<Line> =>
  parts.map(([name, part]) => ({
    metric: `from request to relay, ms: ${name}`,
    value: median(runs.map(({ beside }) => at(beside, part))),
    limit: {
      name: `the same without a batch${name === "p99" ? "; aim: at most 2 times" : ""}`,
      value: median(runs.map(({ idle }) => at(idle, part)))
    },
    ratio: median(runs.map(({ beside, idle }) => at(beside, part) / at(idle, part)))
  }))

/** How many times longer a single email takes beside a batch, by both versions. */
const comparedLinesOf = (runs: ReadonlyArray<{ readonly ours: Round; readonly base: Round }>): ReadonlyArray<Line> => {
  const line = (metric: string, valueOf: (run: Round) => number): Line => ({
    metric,
    value: median(runs.map(({ ours }) => valueOf(ours))),
    limit: { name: "the other version", value: median(runs.map(({ base }) => valueOf(base))) },
    ratio: median(runs.map(({ base, ours }) => valueOf(ours) / valueOf(base)))
  })
  return parts.flatMap(([name, part]) => [
    line(`beside a batch, ms: ${name}`, ({ beside }) => at(beside, part)),
    line(`beside a batch / without one: ${name}`, ({ beside, idle }) => at(beside, part) / at(idle, part))
  ])
}

const titleOf = (count: number) =>
  `lanes: ${singles} single emails, one every ${every} ms, while a batch of ${size} is sent, median of ${count} rounds`

const bench = Effect.gen(function*() {
  const compared = yield* Config.String("BENCH_OURS").pipe(
    Config.withDefault(NodePath.join(import.meta.dirname, "../.."))
  )
  const ours = yield* start(NodePath.resolve(compared))
  yield* measure(ours, warmUp)
  const other = yield* Config.option(Config.String("BENCH_BASE"))
  if (Option.isNone(other)) {
    return yield* printTable(titleOf(rounds), linesOf(yield* Effect.replicateEffect(measure(ours, singles), rounds)))
  }
  const base = yield* start(NodePath.resolve(other.value))
  yield* measure(base, warmUp)
  const runs = yield* Effect.forEach(Array.from({ length: 2 * rounds }).keys(), (round) => {
    const both = { ours: measure(ours, singles), base: measure(base, singles) }
    return round % 2 === 0 ? Effect.all(both) : Effect.all({ base: both.base, ours: both.ours })
  })
  yield* printTable(titleOf(runs.length), comparedLinesOf(runs))
})

NodeRuntime.runMain(Effect.scoped(bench))
