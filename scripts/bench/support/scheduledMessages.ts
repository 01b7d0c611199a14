import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { cpuOf, cpuOfChildren } from "./cpuTime.ts"
import { type BenchDatabase, client, makeAccounts, postmasterOf, startDatabase, startService } from "./service.ts"
import { countStatements } from "./statements.ts"
import { median, printTable } from "./table.ts"

/** How long an idle node is watched. */
const idleSeconds = 20

/** Scheduled messages of each channel that leave while others wait. */
const leaving = 100

/** Half emails and half SMS of a hundred accounts, due in a month. Autovacuum would be measured as a cost of waiting. */
const fill = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter system set autovacuum = off`
  yield* sql`select pg_reload_conf()`
  yield* sql`insert into accounts (name, email, plan) select 'Bench', 'w' || i || '@bench.example', 'enterprise'
    from generate_series(1, 100) as numbers (i)`
  const owner = sql`(select min(id) from accounts where email = 'w1@bench.example') + i % 100`
  const numbers = sql`from generate_series(1, ${count}::integer / 2) as numbers (i)`
  yield* sql`insert into email_messages (account_id, recipient, status, subject, send_at)
    select ${owner}, 'reader' || i || '@host.example', 'scheduled', 'Later', now() + interval '30 days' ${numbers}`
  yield* sql`with waiting as (
      insert into messages (account_id, channel, direction, recipient, content, segments, status, send_at)
      select ${owner}, 'sms', 'out', '+25078' || 1000000 + i, '{"body": "Later"}', 1, 'scheduled', now() + interval '30 days'
        ${numbers} returning id, account_id
    )
    insert into sms_parts (message_id, account_id, part_no, parts, encoding, body, lane, due_at)
    select id, account_id, 1, 1, 'gsm7', 'Later', 1, null from waiting`
  // The search would add them meanwhile.
  yield* sql`update message_search_progress p set id = case p.name when 'messages' then (select max(id) from messages)
    else (select max(id) from email_messages) end`
  yield* sql`vacuum analyze`
  yield* sql`checkpoint`
})

/** Statements a second, and milliseconds of processor a second, of a node without requests and of its PostgreSQL. */
const idle = Effect.fnUntraced(function*(database: BenchDatabase, pid: number) {
  const postmaster = postmasterOf(database)
  const statements = yield* countStatements(database, Effect.sleep(idleSeconds * 1_000))
  const before = { node: cpuOf(pid), database: cpuOfChildren(postmaster) }
  yield* Effect.sleep(idleSeconds * 1_000)
  return {
    statements: statements / idleSeconds,
    node: (cpuOf(pid) - before.node) / 1_000 / idleSeconds,
    database: (cpuOfChildren(postmaster) - before.database) / 1_000 / idleSeconds
  }
})

/** Seconds between the time of scheduled messages, ten a second of each channel, and their hand-over. */
const lags = Effect.fnUntraced(function*(port: number, key: string) {
  const sql = yield* SqlClient.SqlClient
  const firstAt = Date.now() + 30_000
  const post = (path: string, json: object) =>
    Effect.promise(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(json)
      })
      if (answer.status !== 202) throw new Error(await answer.text())
    })
  yield* Effect.forEach(Array.from({ length: leaving }, (_, index) => index), (index) => {
    const send_at = new Date(firstAt + index * 100).toISOString()
    const email = { to: `leaving${index}@host.example`, subject: "Now", text: "Now", send_at }
    const sms = { to: `+25078${2_000_000 + index}`, content: "Now", send_at }
    return Effect.andThen(post("/v1/email/send", email), post("/v1/sms/send", sms))
  }, { concurrency: 8 })
  const own = sql`where send_at < now() + interval '1 hour' and account_id = (
    select id from accounts where email = 'owner0@bench.example')`
  const read = sql`select extract(epoch from sent_at - send_at)::float8 as lag from email_messages ${own}
    union all select extract(epoch from sent_at - send_at)::float8 from messages ${own}`
  const rows = yield* read.pipe(
    Effect.repeat({
      until: (found) => found.length === 2 * leaving && found.every(({ lag }) => lag !== null),
      schedule: Schedule.spaced("1 second")
    }),
    Effect.timeout("3 minutes")
  )
  // The next round sends as many again.
  yield* sql`delete from email_messages ${own}`
  yield* sql`delete from messages ${own}`
  return rows.map(({ lag }) => Number(lag))
})

/** What scheduled messages cost while they wait, and how late others leave beside them. */
export const measureScheduled = Effect.fnUntraced(function*(count: number) {
  const database = yield* startDatabase
  const { child, port } = yield* startService(database)
  const [account] = yield* makeAccounts(database, 1)
  const rounds = Effect.gen(function*() {
    const round = Effect.gen(function*() {
      const late = yield* lags(port, account?.key ?? "")
      return { late, ...(yield* idle(database, child.pid ?? 0)) }
    })
    const empty = yield* round
    yield* fill(count)
    return { empty, waiting: yield* round }
  })
  const { empty, waiting } = yield* Effect.provide(rounds, client(database))
  const beside = (value: number) => ({ name: "the same node, none waits", value })
  yield* printTable(`messages: ${count.toLocaleString("en-US")} scheduled messages wait, half emails and half SMS`, [
    {
      metric: "statements/s of a node without requests",
      value: waiting.statements,
      limit: beside(empty.statements)
    },
    { metric: "CPU of the node, ms/s", value: waiting.node, limit: beside(empty.node) },
    { metric: "CPU of PostgreSQL, ms/s", value: waiting.database, limit: beside(empty.database) },
    {
      metric: "hand-over of others after their time, median s",
      value: median(waiting.late),
      limit: beside(median(empty.late))
    },
    { metric: "latest, s", value: Math.max(...waiting.late), limit: { name: "the aim", value: 1 } }
  ])
})
