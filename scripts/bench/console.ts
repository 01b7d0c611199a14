/**
 * Measures the pages of the console for an account that has half of many messages: the time of each page over HTTP, beside the
 * aim, and the time that PostgreSQL worked for one. BENCH_MESSAGES is the number of messages.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { directory, migrate } from "../../src/platform/database/Migrations.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { signedInAs } from "../../test/support/consolePeople.ts"
import { cpuOfChildren } from "./support/cpuTime.ts"
import { fillMessages } from "./support/manyMessages.ts"
import { client, postmasterOf, startDatabase, startService } from "./support/service.ts"
import { printTable } from "./support/table.ts"

const messages = Number(process.env["BENCH_MESSAGES"] ?? 200_000)
const account = AccountId.make(1)
const rounds = 40

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

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const prepared = yield* Effect.gen(function*() {
    yield* migrate(directory)
    yield* fillMessages(messages)
    return { ...(yield* signedInAs(account, "owner")), pages: yield* pagesOf }
  }).pipe(Effect.provide(client(database)))
  const { port } = yield* startService(database)
  const base = `http://127.0.0.1:${port}/console/${account}`
  const lines = yield* Effect.forEach(Object.entries(prepared.pages), ([metric, path]) =>
    Effect.gen(function*() {
      const once = timeOf(`${base}${path}`, prepared.cookie)
      yield* once
      const before = cpuOfChildren(postmasterOf(database))
      const millis = yield* Effect.forEach(Array.from({ length: rounds }), () => once)
      const work = (cpuOfChildren(postmasterOf(database)) - before) / 1_000 / rounds
      return [
        { metric: `${metric}, p95 ms`, value: p95(millis), limit: aim },
        { metric: "CPU of PostgreSQL for it, mean ms", value: work }
      ]
    }))
  yield* printTable(`console: pages of an account, beside ${messages.toLocaleString("en-US")} messages`, lines.flat())
})

NodeRuntime.runMain(Effect.scoped(Effect.provide(bench, NodeServices.layer)))
