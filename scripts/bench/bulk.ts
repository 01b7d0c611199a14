/**
 * Measures bulk mail, from the accepted request to the recorded outcome of the last recipient: the whole service over
 * one relay, compared with a plain loop over nodemailer's pool without durability, on as many connections. Signed mail
 * is also compared with the service's engine in a process without a database, and with bare RSA signatures. The relay
 * is a cheap separate process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { type Account, batchSize, domain, pem, send, verifyDomain } from "./support/bulkLoad.ts"
import { connections } from "./support/mail.ts"
import { startRelay } from "./support/relay.ts"
import { runScript } from "./support/script.ts"
import { type BenchDatabase, client, makeAccounts, startDatabase, startService, vault } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 3
const batches = 8
/** The loops without durability are steady from the start and need fewer messages. */
const plain = 1_200

const loop = (kind: "plain" | "pem" | "engine" | "sign", relay: number, count: number) =>
  Effect.map(
    Effect.scoped(runScript<{ perSecond: number }>("mailLoop.ts", { kind, port: relay, count, pem, domain })),
    ({ perSecond }) => perSecond
  )

const round = (service: number, relay: number, account: Account) =>
  Effect.gen(function*() {
    return {
      unsigned: yield* send(service, account, { count: batches }),
      plain: yield* loop("plain", relay, plain),
      signed: yield* send(service, account, { count: batches, from: `news@${domain}` }),
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
  const [account] = yield* makeAccounts(database, 1)
  if (account === undefined) return []
  yield* verifyDomain(account)
  const all = yield* Effect.replicateEffect(round(service, relay, account), rounds + 1)
  return all.slice(1)
})

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { port: relay } = yield* startRelay()
  // The service reserves one connection for single emails, and one for codes and security notices.
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay}?tls=never`, SMTP_CONNECTIONS: String(connections + 2) }
  const { port } = yield* startService(database, { env })
  const all = yield* measure(port, relay, database).pipe(Effect.provide([client(database), vault]))
  yield* printTable(
    `bulk: ${batches} batches of ${batchSize}, ${connections} connections, median of ${rounds} rounds`,
    linesOf(all)
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
