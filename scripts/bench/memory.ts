/** What bulk mail costs the service in memory: a batch of 500 whose recipients all wait, and 100 such batches. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import { html, recipients, subject } from "./support/mail.ts"
import { runScript } from "./support/script.ts"
import { client, makeAccounts, startDatabase, startService } from "./support/service.ts"
import { printTable } from "./support/table.ts"

const size = 500
const batches = 100

/** Resident bytes of a process. */
const resident = (pid: number) =>
  Effect.sync(() => Number(/VmRSS:\s+(\d+) kB/.exec(NodeFs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024)

const accept = (port: number, key: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/v1/email/send-bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ subject, html, recipients: recipients(size) })
    })
  ).pipe(Effect.filterOrElse(({ status }) => status === 202, ({ status }) => Effect.die(`answered ${status}`)))

/** Every recipient was offered once, put off by the relay, and waits. */
const allWait = (count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`select count(*) as waiting from email_messages where status = 'queued' and attempt_count >= 1`.pipe(
      Effect.repeat({ until: ([row]) => Number(row?.["waiting"]) >= count, schedule: Schedule.spaced("50 millis") })
    )
  })

/** What the same recipients weigh as objects in a process that keeps them all. */
const objects = () => {
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: batches }, () => recipients(size))
  return (process.memoryUsage().heapUsed - before) / kept.flat().length
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { port: relay } = yield* runScript<{ port: number }>("smtpSink.ts", { defer: true })
  const { child, port } = yield* startService(database, { env: { SMTP_URL: `smtp://127.0.0.1:${relay}?tls=never` } })
  const pid = child.pid ?? 0
  const [account] = yield* makeAccounts(database, 1)
  if (account === undefined) return
  yield* Effect.gen(function*() {
    // The first batch also loads code and fills caches; only what comes after it is growth.
    yield* accept(port, account.key)
    yield* allWait(size)
    const warm = yield* resident(pid)
    yield* accept(port, account.key)
    yield* allWait(2 * size)
    const one = yield* resident(pid)
    yield* Effect.forEach(Array.from({ length: batches - 1 }), () => accept(port, account.key), { concurrency: 4 })
    yield* allWait((batches + 1) * size)
    const all = yield* resident(pid)
    const limit = { name: "the recipients as objects in one process", value: objects() }
    yield* printTable(`memory: batches of ${size}, all recipients waiting`, [
      { metric: "a service at rest, MB", value: warm / 1e6 },
      { metric: "one batch more, MB", value: (one - warm) / 1e6 },
      { metric: `${batches} batches more, MB`, value: (all - warm) / 1e6 },
      { metric: "bytes per waiting recipient", value: (all - warm) / (batches * size), limit }
    ])
  }).pipe(Effect.provide(client(database)))
})

NodeRuntime.runMain(Effect.scoped(bench))
