/**
 * Mail by graphile-worker: a job for each request, whose task renders the texts and sends them to each recipient over
 * nodemailer's pool. Jobs are added by the clock. It stores no outcome of a recipient and publishes no event.
 */
import { Result } from "effect"
import { Logger, makeWorkerUtils, run, type TaskList } from "graphile-worker"
import * as NodePath from "node:path"
import * as nodemailer from "nodemailer"
import { compile, render } from "../../../src/templates/Template.ts"
import { connections, html, subject } from "./mail.ts"
import { answerQuestions } from "./peer.ts"
import { percentiles } from "./percentiles.ts"
import { inputOf } from "./script.ts"

/** One run of jobs. */
export interface Jobs {
  readonly recipients: number
  readonly perSecond: number
  readonly seconds: number
}

/** Milliseconds to add a job, microseconds of CPU for a job, and the first recipients with when they were due. */
export interface JobsDone {
  readonly added: { readonly p50: number; readonly p99: number }
  readonly cpu: number
  readonly began: ReadonlyArray<readonly [string, number]>
}

const { relay, socket } = inputOf<{ readonly relay: number; readonly socket: string }>()

const concurrentJobs = 16
const worker = {
  connectionString: `socket:${NodePath.dirname(socket)}?db=graphile_mail`,
  concurrentJobs,
  maxPoolSize: concurrentJobs + 2,
  logger: new Logger(() => (level, message) => {
    if (level === "error") console.error(message)
  })
}
process.env["PGUSER"] = "postgres"

const utils = await makeWorkerUtils({ preset: { worker } })
await utils.migrate()
const transport = nodemailer.createTransport({
  host: "127.0.0.1",
  port: relay,
  ignoreTLS: true,
  pool: true,
  maxConnections: connections
})

interface Mail {
  readonly recipients: ReadonlyArray<{ readonly to: string; readonly variables: Record<string, unknown> }>
}

const taskList: TaskList = {
  mail: async (payload) => {
    // The code below inserts the jobs of this schema.
    const { recipients } = payload as Mail
    const template = Result.getOrThrow(compile({ subject, html }))
    await Promise.all(
      recipients.map(({ to, variables }) =>
        transport.sendMail({ from: "news@bench.example", to, ...render(template, variables) })
      )
    )
  }
}
const runner = await run({ preset: { worker }, taskList, noHandleSignals: true })
// Without this, the bench would wait forever for a worker that stopped.
void runner.promise.catch(console.error).finally(() => process.exit(1))

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
let made = 0

answerQuestions<Jobs>({}, async ({ perSecond, recipients, seconds }): Promise<JobsDone> => {
  const count = Math.round(perSecond * seconds)
  const took: Array<number> = []
  const began: Array<readonly [string, number]> = []
  const before = process.cpuUsage()
  const beganAt = performance.now()
  const offset = Number(process.hrtime.bigint()) - beganAt * 1e6
  const add = async (dueAt: number) => {
    const variables = { name: "Ana", order: ++made }
    const to = `single${made}@recipient.example`
    const others = Array.from(
      { length: recipients - 1 },
      (_, index) => ({ to: `ana${index}@recipient.example`, variables })
    )
    await utils.addJob("mail", { recipients: [{ to, variables }, ...others] })
    took.push(performance.now() - dueAt)
    began.push([to, dueAt * 1e6 + offset])
  }
  const adding: Array<Promise<void>> = []
  while (adding.length < count) {
    const due = Math.min(count, Math.floor((performance.now() - beganAt) / 1000 * perSecond) + 1)
    while (adding.length < due) adding.push(add(beganAt + adding.length * 1000 / perSecond))
    await wait(1)
  }
  await Promise.all(adding)
  const isBusy = () =>
    utils.withPgClient(async (client) =>
      Boolean((await client.query("select exists (select from graphile_worker.jobs) as busy")).rows[0].busy)
    )
  while (await isBusy()) await wait(20)
  const { system, user } = process.cpuUsage(before)
  return { added: percentiles(took), cpu: (system + user) / count, began }
})
