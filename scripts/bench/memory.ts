/**
 * Measures the memory of 100,000 waiting recipients: 200 batches of 500, each recipient attempted once and deferred by
 * the relay. Compared with the same node before them. It has had canceled batches, so that code, connections and caches
 * are loaded.
 *
 * The bench samples memory every half second, each time after a forced collection that also returns free pages, and
 * reports the highest sample: resident memory, and the part in use. After a normal collection V8 keeps the pages that
 * its heap had at the peak of sending. They belong to no recipient and have a line in the table.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodePath from "node:path"
import { html, recipients, subject } from "./support/mail.ts"
import { highestMemory, type Memory } from "./support/memory.ts"
import type { MemoryQuestion } from "./support/memoryAnswers.ts"
import { questionsTo } from "./support/peer.ts"
import { startRelay } from "./support/relay.ts"
import { client, makeAccounts, startDatabase, startService } from "./support/service.ts"
import { printTable } from "./support/table.ts"

const size = 500
const batches = 200
/** Before the clock starts. */
const warmUp = 60

const watched = "15 seconds"

const memoryAnswers = NodePath.join(import.meta.dirname, "support/memoryAnswers.ts")

const accept = (port: number, key: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/v1/email/send-bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ subject, html, recipients: recipients(size) })
    })
  ).pipe(Effect.filterOrElse(({ status }) => status === 202, ({ status }) => Effect.die(`answered ${status}`)))

/** Every recipient was attempted once and deferred. The retry is set to an hour, so that all wait at the same time. */
const allWait = (count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const look = Effect.andThen(
      sql`update email_messages set due_at = now() + interval '1 hour'
        where status = 'queued' and attempt_count >= 1 and due_at < now() + interval '30 minutes'`,
      sql`select count(*) as waiting from email_messages where status = 'queued' and attempt_count >= 1`
    )
    yield* Effect.repeat(look, {
      until: ([row]) => Number(row?.["waiting"]) >= count,
      schedule: Schedule.spaced("1 second")
    })
  })

/** Cancels all batches. */
const cancelAll = (port: number, key: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const open = yield* sql`select id from email_batches where completed_at is null`
    yield* Effect.forEach(open, ({ id }) =>
      Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/v1/email/batches/${String(id)}/cancel`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` }
        })
      ).pipe(Effect.filterOrElse(({ ok }) =>
        ok, ({ status }) => Effect.die(`answered ${status}`))))
  })

/** Bytes of the same recipients as objects of one process. */
const objects = () => {
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: batches }, () => recipients(size))
  return (process.memoryUsage().heapUsed - before) / kept.flat().length
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { port: relay } = yield* startRelay({ defer: true })
  const { child, port } = yield* startService(database, {
    env: { SMTP_URL: `smtp://127.0.0.1:${relay}?tls=never` },
    nodeOptions: ["--expose-gc", "--import", memoryAnswers]
  })
  const ask = questionsTo<MemoryQuestion, Memory>(child)
  const memory = Effect.gen(function*() {
    const { resident: kept } = yield* ask({ givingBack: false })
    const { memory } = yield* highestMemory(ask({ givingBack: true }), Effect.sleep(watched))
    return { ...memory, kept: kept / 1e6 }
  })
  const [account] = yield* makeAccounts(database, 1)
  if (account === undefined) return
  const waiting = Effect.fnUntraced(function*(count: number) {
    yield* Effect.forEach(Array.from({ length: count }), () => accept(port, account.key), { concurrency: 4 })
    yield* allWait(count * size)
  })
  yield* Effect.gen(function*() {
    yield* waiting(warmUp)
    yield* cancelAll(port, account.key)
    const before = yield* memory
    yield* waiting(batches)
    const beside = yield* memory
    const aim = { name: "the aim: at most", value: 50 }
    const resident = beside.resident - before.resident
    yield* printTable(`memory: ${batches} batches of ${size}, all recipients waiting`, [
      { metric: "resident, a node without batches, MB", value: before.resident },
      { metric: "in use", value: before.live },
      { metric: "growth by the batches, MB", value: resident, limit: aim },
      { metric: "in use", value: beside.live - before.live, limit: aim },
      { metric: "growth with the free pages that V8 keeps, MB", value: beside.kept - before.kept },
      {
        metric: "bytes per waiting recipient",
        value: resident * 1e6 / (batches * size),
        limit: { name: "the recipients as objects in one process", value: objects() }
      }
    ])
  }).pipe(Effect.provide(client(database)))
})

NodeRuntime.runMain(Effect.scoped(bench))
