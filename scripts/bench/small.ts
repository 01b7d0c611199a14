/**
 * Measures small batches: 1, 10 and 100 recipients for each request, by the clock. It compares the time of the 202 and of
 * the mail with a job of graphile-worker that sends the same mail, and the CPU with that of a single email. Then it posts
 * ten times as many batches of one as the node sustains (`BENCH_OVERLOAD_SECONDS`, 60; 0: not at all). `BENCH_BASE` names the
 * checkout of another version to measure instead.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodePath from "node:path"
import type { Jobs, JobsDone } from "./support/graphileMail.ts"
import { connections } from "./support/mail.ts"
import type { Ran, Receiver, Run } from "./support/openLoop.ts"
import { startPeer } from "./support/peer.ts"
import { percentiles } from "./support/percentiles.ts"
import { cpuOf, peakOf, residentOf } from "./support/processUse.ts"
import { startRelay } from "./support/relay.ts"
import { client, makeAccounts, startDatabase, startService } from "./support/service.ts"
import { countStatements } from "./support/statements.ts"
import { type Line, printTable } from "./support/table.ts"

const seconds = 10
const warmUpSeconds = 5
const loads = [{ recipients: 1, perSecond: 100 }, { recipients: 10, perSecond: 30 }, { recipients: 100, perSecond: 5 }]
const overloadSeconds = Number(process.env["BENCH_OVERLOAD_SECONDS"] ?? 60)
const maxConnections = 1_900
/** The program of another version, whose checkout BENCH_BASE names. */
const base = process.env["BENCH_BASE"] && NodePath.resolve(process.env["BENCH_BASE"], "src/main.ts")

type Load = (typeof loads)[number]

/** Receives `email.sent` of the key's account. */
const listen = (port: number, key: string, receiver: number) =>
  Effect.promise(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `http://127.0.0.1:${receiver}/`, events: ["email.sent"] })
    })
    if (!answer.ok) throw new Error(await answer.text())
  })

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const [relay, graphileRelay] = yield* Effect.all([startRelay(), startRelay()])
  // The service reserves one connection for single emails, and one for codes and security notices.
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=never`, SMTP_CONNECTIONS: String(connections + 2) }
  const { child, port } = yield* startService(database, { env, ...(base !== undefined && { main: base }) })
  const [account] = yield* makeAccounts(database, 1)
  const loop = yield* startPeer<Receiver, Run, Ran>("openLoop.ts", null)
  const key = account?.key ?? ""
  yield* listen(port, key, loop.hello.port)
  yield* Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`create database graphile_mail`
  }).pipe(Effect.provide(client(database)))
  const graphile = yield* startPeer<object, Jobs, JobsDone>("graphileMail.ts", {
    socket: database.socket,
    relay: graphileRelay.port
  })
  const pid = child.pid ?? 0
  const run = (load: Pick<Run, "recipients" | "perSecond" | "seconds"> & Partial<Run>) =>
    loop.ask({ port, key, maxConnections, awaitsEvents: true, ...load })
  return { database, graphile: graphile.ask, graphileRelay, pid, relay, run }
})

type Setup = Effect.Success<typeof start>

/** Milliseconds until the relay had the mail of the first recipient of each request. */
const mailTimes = Effect.fnUntraced(function*(relay: Setup["relay"], began: Ran["began"]) {
  const arrivals = new Map(yield* relay.arrivals)
  return percentiles(began.flatMap(([to, at]) => {
    const arrival = arrivals.get(to)
    return arrival === undefined ? [] : [(arrival - at) / 1e6]
  }))
})

const allDone = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select exists (select from email_batches where completed_at is null) as open`.pipe(
    Effect.repeat({ until: ([row]) => row?.["open"] === false, schedule: Schedule.spaced("100 millis") })
  )
})

/** Statements that PostgreSQL executes for one request, without those of an idle node. */
const statements = Effect.fnUntraced(function*({ database, run }: Setup, recipients: Run["recipients"]) {
  const count = 50
  const idle = yield* countStatements(database, Effect.sleep("2 seconds"))
  const busy = yield* countStatements(database, run({ recipients, perSecond: count / 2, seconds: 2 }))
  return (busy - idle) / count
})

const cpuPerRequest = Effect.fnUntraced(function*<A>(pid: number, requests: number, work: Effect.Effect<A>) {
  const before = cpuOf(pid)
  const result = yield* work
  return { cpu: (cpuOf(pid) - before) / requests, result }
})

const measure = Effect.fnUntraced(function*(setup: Setup, { perSecond, recipients }: Load) {
  const { graphile, graphileRelay, pid, relay, run } = setup
  const count = perSecond * seconds
  yield* run({ recipients, perSecond, seconds: warmUpSeconds })
  yield* graphile({ recipients, perSecond, seconds: warmUpSeconds })
  yield* Effect.all([relay.arrivals, graphileRelay.arrivals])
  const { cpu, result: ours } = yield* cpuPerRequest(pid, count, run({ recipients, perSecond, seconds }))
  const oursMailed = yield* mailTimes(relay, ours.began)
  const theirs = yield* graphile({ recipients, perSecond, seconds })
  const theirsMailed = yield* mailTimes(graphileRelay, theirs.began)
  const { cpu: single } = yield* cpuPerRequest(
    pid,
    100 * seconds,
    run({ recipients: "single", perSecond: 100, seconds })
  )
  const name = `${perSecond}/s of ${recipients}:`
  const job = "a job of graphile-worker, in the same run"
  const limit = (value: number, limitName: string) => ({ limit: { value, name: limitName } })
  const answers = Object.entries(ours.statuses).map(([status, times]) => `${times} times ${status}`)
  yield* Console.log(`${name} ${answers.join(", ")}`)
  const lines: ReadonlyArray<Line> = [
    { metric: `${name} 202, p50 ms`, value: ours.accepted.p50, ...limit(theirs.added.p50, job) },
    { metric: "", value: ours.accepted.p50, ...limit(10, "aim") },
    { metric: "202, p99 ms", value: ours.accepted.p99, ...limit(theirs.added.p99, job) },
    { metric: "", value: ours.accepted.p99, ...limit(50, "aim") },
    { metric: "first mail at the relay, p50 ms", value: oursMailed.p50, ...limit(theirsMailed.p50, job) },
    { metric: "first mail at the relay, p99 ms", value: oursMailed.p99, ...limit(theirsMailed.p99, job) },
    { metric: "first byte of email.sent, p50 ms", value: ours.events.p50, ...limit(50, "aim") },
    { metric: "first byte of email.sent, p99 ms", value: ours.events.p99 },
    { metric: "CPU, µs", value: cpu, ...limit(single, "POST /v1/email/send at 100/s; aim for a batch of one: 1.5") },
    { metric: "", value: cpu, ...limit(theirs.cpu, "graphile-worker with its producer; it stores no outcomes") },
    {
      metric: "SQL statements",
      value: yield* statements(setup, recipients),
      ...limit(yield* statements(setup, "single"), "POST /v1/email/send")
    }
  ]
  return lines
})

const acceptedOf = ({ statuses }: Ran) => statuses["202"] ?? 0

const overload = Effect.fnUntraced(function*({ pid, run }: Setup) {
  const sql = yield* SqlClient.SqlClient
  const begunAt = performance.now()
  const flood = yield* run({ recipients: 1, perSecond: 3_000, seconds: 3, maxConnections: 16, awaitsEvents: false })
  yield* allDone
  const sustained = acceptedOf(flood) / ((performance.now() - begunAt) / 1000)
  const [before] = yield* sql`select count(*) as count from email_batches`
  const resident = residentOf(pid)
  const load = { recipients: 1, perSecond: sustained * 10, seconds: overloadSeconds, awaitsEvents: false }
  const { peak, result } = yield* peakOf(pid, run(load))
  const endedAt = performance.now()
  yield* allDone
  const [after] = yield* sql`select count(*) as count, coalesce(sum(sent), 0) as sent from email_batches`
  const stored = Number(after?.["count"]) - Number(before?.["count"])
  const isAllowed = (status: string) => /^(2..|429|503)$/.test(status)
  const count = (matches: (status: string) => boolean) =>
    Object.entries(result.statuses).reduce((sum, [status, times]) => sum + (matches(status) ? times : 0), 0)
  yield* Console.log(`overload: ${JSON.stringify(result.statuses)}, ${stored} batches stored`)
  const lines: ReadonlyArray<Line> = [
    { metric: "sustained batches of one per second", value: sustained },
    { metric: `10 times that, ${overloadSeconds} s: accepted per second`, value: acceptedOf(result) / overloadSeconds },
    { metric: "202, p99 ms", value: result.accepted.p99, limit: { value: 2_500, name: "aim" } },
    { metric: "resident memory, MB more", value: peak - resident, limit: { value: 150, name: "aim" } },
    { metric: "answers that are not 2xx, 429 or 503", value: count((status) => !isAllowed(status)) },
    { metric: "accepted and not stored", value: Math.max(0, acceptedOf(result) - stored) },
    { metric: "seconds until all were sent", value: (performance.now() - endedAt) / 1000 }
  ]
  return lines
})

const all = Effect.fnUntraced(function*(setup: Setup) {
  const lines: Array<Line> = []
  for (const load of loads) lines.push(...yield* measure(setup, load))
  if (overloadSeconds > 0) lines.push(...yield* overload(setup))
  return lines
})

const bench = Effect.gen(function*() {
  const setup = yield* start
  const lines = yield* all(setup).pipe(Effect.provide(client(setup.database)))
  yield* printTable(`small: batches by the clock for ${seconds} s, ${connections} connections to the relay`, lines)
})

NodeRuntime.runMain(Effect.scoped(bench))
