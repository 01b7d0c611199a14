/** `npm run bench [name …]`: runs these benches, or all, one after the other in separate processes. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { signingThreads } from "../../src/app/server/signingThreads.ts"

const benches: Readonly<Record<string, string>> = {
  http: "requests/s and CPU beside Fastify with postgres.js and beside a bare HttpApi",
  small: "time, CPU and memory of batches of one, ten and a hundred beside a job of graphile-worker",
  bulk: "mails/s beside nodemailer's pool and beside bare RSA signatures",
  webhooks: "durable deliveries/s beside a bare undici loop and beside graphile-worker",
  sms: "submits/s beside a bare loop with the same window, and messages accepted beside one row",
  whatsapp: "texts/s, memory of a session and time of reconnecting beside the bare library",
  isolation: "deliveries/s to healthy endpoints beside one that never answers",
  latency: "time from an event's commit to its first byte at the endpoint",
  backlog: "time to take deliveries of a million, and a node's memory beside them",
  recovery: "pace, memory and other accounts' events while a webhook recovers many deliveries, beside new ones",
  memory: "what 100,000 waiting recipients of 200 batches cost a node in memory",
  lanes: "time of a single email while a batch runs, beside one without",
  compose: "CPU to render, compose, sign and hand over one message beside a bare signature",
  smtp: "CPU to hand one message over beside a raw socket",
  messages: "the list of all messages: its last page and searches; a timeline beside many attempts; waiting messages",
  console: "time of each page of the console beside many messages",
  retention: "time to drop a day of history beside DELETE, and what writers notice",
  pair: "requests, mails, deliveries, submits and texts/s beside another version, whose checkout BENCH_BASE names",
  start: "time of a start, memory of an idle node and installed size, beside a version whose checkout BENCH_BASE names",
  nodes: "calls between nodes over TLS with the nodes' key beside plain TCP",
  blocks: "the own codecs and group commit beside what the libraries offer"
}

const names = process.argv.slice(2)
/** `pair` needs another version. */
const all = Object.keys(benches).filter((name) => name !== "pair" || process.env["BENCH_BASE"] !== undefined)
const unknown = names.filter((name) => !Object.hasOwn(benches, name))

if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}. There are:`)
  for (const [name, meaning] of Object.entries(benches)) console.error(`  ${name.padEnd(10)}${meaning}`)
  process.exitCode = 1
} else {
  // The default of a node; the caller's environment overrides it.
  const env = { UV_THREADPOOL_SIZE: String(signingThreads), ...process.env }
  for (const name of names.length > 0 ? names : all) {
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
      stdio: "inherit",
      env
    })
    if (status !== 0) process.exitCode = 1
  }
}
