/**
 * Measures the pages of the console for an account that has half of many messages: the time of each page over HTTP, idle and
 * beside 200 sends a second, and the time that PostgreSQL worked for one. Then how much longer sends take while a person looks
 * at a page each second. BENCH_MESSAGES and BENCH_ATTEMPTS are the sizes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { directory, migrate } from "../../src/platform/database/Migrations.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { signedInAs } from "../../test/support/consolePeople.ts"
import { cpuOf, cpuOfChildren } from "./support/cpuTime.ts"
import { fillAttempts, fillMessages } from "./support/manyMessages.ts"
import type { Ran, Receiver, Run } from "./support/openLoop.ts"
import { startPeer } from "./support/peer.ts"
import { startRelay } from "./support/relay.ts"
import { client, makeAccounts, postmasterOf, startDatabase, startService } from "./support/service.ts"
import { median, printTable } from "./support/table.ts"

const messages = Number(process.env["BENCH_MESSAGES"] ?? 200_000)
const attempts = Number(process.env["BENCH_ATTEMPTS"] ?? 1_000_000)
const account = AccountId.make(1)
const rounds = 40
const warmUps = 10
const sends = { recipients: "single", perSecond: 200, seconds: 10, maxConnections: 64, awaitsEvents: false } as const
const sendRounds = 12

/** Milliseconds. */
const aim = { name: "the aim", value: 50 }

const p95 = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0

const pagesOf = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [ids] = yield* sql`select (select max(id) from email_messages where account_id = ${account}) as email,
    (select max(id) from messages where account_id = ${account} and channel = 'sms') as sms`
  return {
    "the overview": "/",
    "the overview of 90 days": "/?range=90d",
    messages: "/messages",
    "messages by a status": "/messages?status=bounced",
    "messages by a common word": "/messages?q=w7",
    "an email": `/messages/email/${ids?.["email"]}`,
    "an SMS": `/messages/sms/${ids?.["sms"]}`,
    batches: "/batches",
    usage: "/usage",
    webhooks: "/webhooks",
    "WhatsApp sessions": "/whatsapp",
    domains: "/domains",
    suppressions: "/suppressions",
    "API keys": "/keys",
    requests: "/requests",
    "find an id": "/find?q=7",
    "find an address": "/find?q=reader7@host7.example"
  }
})

const timeOf = (url: string, cookie: string) =>
  Effect.promise(async (signal) => {
    const began = performance.now()
    const answer = await fetch(url, { headers: { cookie, "accept-encoding": "gzip" }, signal })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
    return performance.now() - began
  })

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const prepared = yield* Effect.gen(function*() {
    yield* migrate(directory)
    yield* fillMessages(messages)
    yield* fillAttempts(attempts)
    return { ...(yield* signedInAs(account, "owner")), pages: yield* pagesOf }
  }).pipe(Effect.provide(client(database)))
  const relay = yield* startRelay()
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=never`, RATE_LIMIT_PAGES: "1000000" }
  const { child, port } = yield* startService(database, { env })
  const [sender] = yield* makeAccounts(database, 1)
  const loop = yield* startPeer<Receiver, Run, Ran>("openLoop.ts", null)
  const postmaster = postmasterOf(database)
  return {
    database,
    postmaster,
    /** Microseconds. */
    cpu: () => ({
      "the node": cpuOf(child.pid ?? 0),
      PostgreSQL: cpuOfChildren(postmaster),
      "the sender of requests": cpuOf(loop.pid)
    }),
    pages: Object.entries(prepared.pages),
    open: (path: string) => timeOf(`http://127.0.0.1:${port}/console/${account}${path}`, prepared.cookie),
    send: loop.ask({ port, key: sender?.key ?? "", ...sends })
  }
})

type Setup = Effect.Success<typeof start>

const millisOf = ({ open }: Setup, path: string) => Effect.forEach(Array.from({ length: rounds }), () => open(path))

const idlePage = (setup: Setup) =>
  Effect.fnUntraced(function*([metric, path]: readonly [string, string]) {
    yield* setup.open(path)
    const before = cpuOfChildren(setup.postmaster)
    const millis = yield* millisOf(setup, path)
    const work = (cpuOfChildren(setup.postmaster) - before) / 1_000 / rounds
    return [
      { metric: `${metric}, p95 ms`, value: p95(millis), limit: aim },
      { metric: "CPU of PostgreSQL for it, mean ms", value: work }
    ]
  })

const busyPages = Effect.fnUntraced(function*(setup: Setup) {
  let isDone = false
  const sending = yield* Effect.forkScoped(Effect.repeat(setup.send, { until: () => isDone }))
  const lines = yield* Effect.forEach(
    setup.pages,
    ([metric, path]) =>
      Effect.map(millisOf(setup, path), (millis) => ({ metric: `${metric}, p95 ms`, value: p95(millis), limit: aim }))
  )
  isDone = true
  yield* Fiber.join(sending)
  return lines
})

/** A table with more rows is big. */
const manyRows = 10_000

/**
 * The rows that were read of big tables without an index. PostgreSQL's sessions report after ten seconds without a statement.
 * A plan that reads a table from its start and stops at the first row that fits reads few.
 */
const rowsWithoutIndex = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.sleep("11 seconds")
  const rows = yield* sql`select relname, seq_tup_read from pg_stat_user_tables where n_live_tup > ${manyRows}`
  return new Map(rows.map(({ relname, seq_tup_read }) => [String(relname), Number(seq_tup_read)]))
})

const plans = Effect.fnUntraced(function*(setup: Setup) {
  const before = yield* rowsWithoutIndex
  yield* Effect.forEach(setup.pages, ([, path]) => setup.open(path))
  const after = yield* rowsWithoutIndex
  const read = [...after].filter(([table, count]) => count - (before.get(table) ?? 0) > manyRows).map(([table]) =>
    table
  )
  return { metric: ["big tables read as a whole", ...read].join(" "), value: read.length }
})

/** Opens one page after another, one a second. */
const look = ({ open, pages }: Setup) =>
  Effect.forEach(pages, ([, path]) => Effect.delay(open(path), "1 second")).pipe(Effect.repeat(Schedule.forever))

/** How many processors 200 sends a second take. */
const load = Effect.fnUntraced(function*({ cpu, send }: Setup) {
  const before = cpu()
  yield* send
  const after = cpu()
  return (Object.keys(before) as Array<keyof typeof before>).map((name) => ({
    metric: `processors of ${name}`,
    value: (after[name] - before[name]) / 1_000_000 / sends.seconds
  }))
})

const p99OfSends = (setup: Setup) => Effect.map(setup.send, ({ accepted: { p99 } }) => p99)

const bench = Effect.gen(function*() {
  const setup = yield* start
  // Without it, the first page would pay for compiling the code of a new process.
  yield* Effect.forEach(
    Array.from({ length: warmUps }),
    () => Effect.forEach(setup.pages, ([, path]) => setup.open(path))
  )
  const beside = `beside ${messages.toLocaleString("en-US")} messages and ${attempts.toLocaleString("en-US")} attempts`
  const idle = yield* Effect.forEach(setup.pages, idlePage(setup))
  yield* printTable(`console: pages of an account, ${beside}`, idle.flat())
  yield* printTable("console: how the pages read", [yield* Effect.provide(plans(setup), client(setup.database))])
  yield* setup.send
  yield* printTable(`console: ${sends.perSecond} sends a second alone`, yield* load(setup))
  yield* printTable(`console: the same beside ${sends.perSecond} sends a second`, yield* busyPages(setup))
  const took = yield* Effect.forEach(
    Array.from({ length: sendRounds }),
    () =>
      Effect.all({
        alone: p99OfSends(setup),
        watched: Effect.scoped(Effect.andThen(Effect.forkScoped(look(setup)), p99OfSends(setup)))
      })
  )
  yield* printTable("console: a send while a person opens a page each second", [{
    metric: "202, p99 ms",
    value: median(took.map(({ watched }) => watched)),
    limit: { name: "the same without", value: median(took.map(({ alone }) => alone)) },
    ratio: median(took.map(({ alone, watched }) => watched / alone))
  }])
})

NodeRuntime.runMain(Effect.scoped(Effect.provide(bench, NodeServices.layer)))
