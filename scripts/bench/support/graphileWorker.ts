/**
 * Durable deliveries, hand-written with graphile-worker. Each delivery is a job. Its task signs the event, posts it and
 * records the attempt before the job is complete.
 *
 * `default` keeps the library's settings, except for 16 concurrent jobs with the connections that its manual
 * recommends. It inserts and records row by row. `tuned` uses all that the library offers for throughput: 192
 * concurrent jobs, a local queue of 500, batched completions, jobs inserted by the hundred, and attempts recorded in
 * groups of up to a hundred. Both disable the log of jobs.
 */
import { Redacted } from "effect"
import { Logger, makeWorkerUtils, run, type Task, type TaskList } from "graphile-worker"
import * as NodePath from "node:path"
import { sign, signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"
import { makePost } from "./dispatch.ts"
import { groupCommit } from "./groupCommit.ts"
import { answerQuestions } from "./peer.ts"
import { inputOf } from "./script.ts"
import { dataOf } from "./webhookEvent.ts"

const { mode, ports, socket } = inputOf<{
  readonly ports: ReadonlyArray<number>
  readonly socket: string
  readonly mode: "default" | "tuned"
}>()

/** A request to the worker. */
export interface Deliveries {
  readonly count: number
  /** The limit of unanswered events, above which inserts wait; unlimited by default. */
  readonly unanswered?: number
}

interface Delivery {
  readonly origin: string
  readonly event: { readonly id: string; readonly event: string; readonly timestamp: string; readonly data: unknown }
}

interface AttemptRow {
  readonly job_id: string
  readonly attempt: number
  readonly started_at: string
  readonly duration_ms: number
  readonly response_code: number
}

const tuned = mode === "tuned"
const concurrentJobs = tuned ? 192 : 16
const worker = {
  connectionString: `socket:${NodePath.dirname(socket)}?db=graphile_${mode}`,
  concurrentJobs,
  maxPoolSize: tuned ? 20 : concurrentJobs + 2,
  logger: new Logger(() => (level, message) => {
    if (level === "error") console.error(message)
  }),
  ...(tuned && { localQueue: { size: 500 }, completeJobBatchDelay: 20, failJobBatchDelay: 20 })
}
process.env["PGUSER"] = "postgres"

const utils = await makeWorkerUtils({ preset: { worker } })
await utils.migrate()
const query = (text: string, values: Array<unknown> = []) =>
  utils.withPgClient((client) => client.query({ text, values, ...(values.length > 0 && { name: text.slice(0, 60) }) }))
await query(`create table attempts (
  job_id bigint not null, attempt smallint not null, started_at timestamptz not null, duration_ms integer not null,
  response_code smallint, error text, response_body bytea, primary key (job_id, attempt))`)

const columns = "job_id, attempt, started_at, duration_ms, response_code"

const recordOne = async (row: AttemptRow) => {
  const { attempt, duration_ms, job_id, response_code, started_at } = row
  await query(`insert into attempts (${columns}) values ($1, $2, $3, $4, $5)`, [
    job_id,
    attempt,
    started_at,
    duration_ms,
    response_code
  ])
}

const recordMany = groupCommit({ most: 100, concurrency: 2 }, async (rows: ReadonlyArray<AttemptRow>) => {
  const of = (name: keyof AttemptRow) => rows.map((row) => row[name])
  await query(
    `insert into attempts (${columns})
     select * from unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::integer[], $5::smallint[])`,
    [of("job_id"), of("attempt"), of("started_at"), of("duration_ms"), of("response_code")]
  )
})

const record = tuned ? recordMany : recordOne
const key = signingKey(Redacted.make("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
const post = makePost()

const deliver: Task = async (payload, { job }) => {
  // The code below inserts the jobs of this schema.
  const { event, origin } = payload as Delivery
  const now = Date.now()
  const body = Buffer.from(JSON.stringify(event))
  const attempt = { event: event.event, event_id: event.id, delivery_id: job.id, attempt: job.attempts, body, key }
  const status = await post(origin, { body, headers: sign({ ...attempt, timestamp: Math.floor(now / 1000) }) })
  const started_at = new Date(now).toISOString()
  const duration_ms = Date.now() - now
  answered++
  await record({ job_id: job.id, attempt: job.attempts, started_at, duration_ms, response_code: status })
  if (status >= 300) throw new Error(`the endpoint answered ${status}`)
}

let made = 0
let answered = 0

const payloadOf = (): Delivery => {
  const index = made++
  const id = `evt_${index.toString().padStart(26, "0")}`
  const origin = `http://127.0.0.1:${ports[index % ports.length]}`
  return { origin, event: { id, event: "email.sent", timestamp: new Date().toISOString(), data: dataOf(index) } }
}

const perStatement = tuned ? 100 : 1
const producers = tuned ? 2 : 8

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const add = async ({ count, unanswered = Infinity }: Deliveries) => {
  let left = count
  const produce = async () => {
    while (left > 0) {
      if (made - answered + perStatement > unanswered) {
        await wait(1)
        continue
      }
      left -= perStatement
      if (!tuned) await utils.addJob("deliver", payloadOf())
      else {
        await utils.addJobs(
          Array.from({ length: perStatement }, () => ({ identifier: "deliver", payload: payloadOf() }))
        )
      }
    }
  }
  await Promise.all(Array.from({ length: producers }, produce))
}

const taskList: TaskList = { deliver }
const runner = await run({ preset: { worker }, taskList, noHandleSignals: true })
// Without this, the bench would wait forever for a worker that stopped.
void runner.promise.catch(console.error).finally(() => process.exit(1))

answerQuestions<Deliveries>({}, async (deliveries) => {
  const startedAt = performance.now()
  await add(deliveries)
  const busy = async () => (await query("select exists (select from graphile_worker.jobs) as busy")).rows[0].busy
  while (await busy()) await wait(20)
  return { perSecond: deliveries.count / ((performance.now() - startedAt) / 1000) }
})
