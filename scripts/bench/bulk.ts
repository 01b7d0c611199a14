/**
 * Measures bulk mail, from the accepted request to the recorded outcome of the last recipient: the whole service over
 * one relay, compared with a plain loop over nodemailer's pool without durability, on as many connections. Signed mail
 * is also compared with the service's engine in a process without a database, and with bare RSA signatures. The relay
 * is a cheap separate process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { generateKeyPairSync } from "node:crypto"
import { sealedDkimKey } from "../../src/email-domains/EmailDomains.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { connections, html, recipients, subject } from "./support/mail.ts"
import { startRelay } from "./support/relay.ts"
import { runScript } from "./support/script.ts"
import { type BenchDatabase, client, makeAccounts, startDatabase, startService, vault } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 3
const batches = 8
const size = 500
/** The loops without durability are steady from the start and need fewer messages. */
const plain = 1_200

const domain = "bench.example"
const pem = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs8", format: "pem" }).toString()

type Account = Effect.Success<ReturnType<typeof makeAccounts>>[number]

const verifyDomain = Effect.fnUntraced(function*({ accountId }: Account) {
  const sql = yield* SqlClient.SqlClient
  const { seal } = yield* Vault
  const sealed = seal(sealedDkimKey(accountId, domain), Buffer.from(pem))
  yield* sql`insert into email_domains (account_id, domain, status, dkim_private_key)
    values (${accountId}, ${domain}, 'verified', ${sealed})`
})

const post = (port: number, { key }: Account, from: string | undefined) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/email/send-bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ subject, html, recipients: recipients(size), ...(from !== undefined && { from }) })
    })
    if (response.status !== 202) throw new Error(await response.text())
    await response.body?.cancel()
  })

const allDone = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select count(*) as open from email_batches where completed_at is null`.pipe(
    Effect.repeat({ until: ([row]) => row?.["open"] === 0, schedule: Schedule.spaced("20 millis") })
  )
})

/** Mails per second of `count` batches. */
const send = Effect.fnUntraced(function*(
  port: number,
  accounts: ReadonlyArray<Account>,
  mail: { readonly count: number; readonly from?: string }
) {
  const startedAt = performance.now()
  yield* Effect.forEach(Array.from({ length: mail.count }), (_, index) => {
    const account = accounts[index % accounts.length]
    return account === undefined ? Effect.void : post(port, account, mail.from)
  }, { concurrency: 4, discard: true })
  yield* allDone
  return mail.count * size / ((performance.now() - startedAt) / 1000)
})

const loop = (kind: "plain" | "pem" | "engine" | "sign", relay: number, count: number) =>
  Effect.map(
    Effect.scoped(runScript<{ perSecond: number }>("mailLoop.ts", { kind, port: relay, count, pem, domain })),
    ({ perSecond }) => perSecond
  )

const round = (service: number, relay: number, accounts: ReadonlyArray<Account>) =>
  Effect.gen(function*() {
    return {
      unsigned: yield* send(service, accounts, { count: batches }),
      plain: yield* loop("plain", relay, plain),
      signed: yield* send(service, accounts, { count: batches, from: `news@${domain}` }),
      pem: yield* loop("pem", relay, plain),
      engine: yield* loop("engine", relay, plain * 2),
      sign: yield* loop("sign", relay, plain * 3)
    }
  })

type Round = Effect.Success<ReturnType<typeof round>>

const linesOf = (all: ReadonlyArray<Round>): ReadonlyArray<Line> => {
  const line = (metric: string, value: keyof Round, [limit, name]: readonly [keyof Round, string]): Line => ({
    metric,
    value: median(all.map((one) => one[value])),
    limit: { name, value: median(all.map((one) => one[limit])) },
    ratio: median(all.map((one) => one[value] / one[limit]))
  })
  return [
    line("unsigned, mails/s", "unsigned", ["plain", "nodemailer's pool in a loop"]),
    line("signed, mails/s", "signed", ["pem", "nodemailer's pool in a loop, key as PEM; aim: at least 1.8"]),
    line("", "signed", ["engine", "render, compose, sign and our pool, no database; aim: at least 0.4"]),
    line("", "signed", ["sign", "bare RSA-2048 signatures on all cores"])
  ]
}

const measure = Effect.fnUntraced(function*(service: number, relay: number, database: BenchDatabase) {
  const accounts = yield* makeAccounts(database, batches)
  const [first] = accounts
  if (first === undefined) return []
  yield* verifyDomain(first)
  const all = yield* Effect.replicateEffect(round(service, relay, [first]), rounds + 1)
  return all.slice(1)
})

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { port: relay } = yield* startRelay()
  // The service reserves one connection for single emails.
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay}?tls=never`, SMTP_CONNECTIONS: String(connections + 1) }
  const { port } = yield* startService(database, { env })
  const all = yield* measure(port, relay, database).pipe(Effect.provide([client(database), vault]))
  yield* printTable(
    `bulk: ${batches} batches of ${size}, ${connections} connections, median of ${rounds} rounds`,
    linesOf(all)
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
