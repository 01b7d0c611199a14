/**
 * Measures SMS: submits per second of the whole service to a carrier that answers after 20 ms, compared with a bare
 * loop that keeps the same window full; and accepted messages per second, compared with an endpoint that inserts one
 * row. All use one durable PostgreSQL and take turns in each round.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Load, Loaded } from "./support/httpLoad.ts"
import { runScript } from "./support/script.ts"
import { type BenchDatabase, client, makeAccounts, startDatabase, startService } from "./support/service.ts"
import type { SlowSmsc } from "./support/slowSmsc.ts"
import type { SmppLoop } from "./support/smppLoop.ts"
import { messages, submits } from "./support/smsLoad.ts"
import { median, printTable } from "./support/table.ts"

const rounds = 3
const seconds = 3
const connections = 64
const accounts = 8
const window = 10
const afterMillis = 20

const throughput = Effect.fnUntraced(function*(database: BenchDatabase) {
  const smsc = yield* runScript<{ port: number }>("slowSmsc.ts", { afterMillis } satisfies SlowSmsc)
  const env = {
    SMS_PROVIDER: "smpp",
    SMPP_URL: `smpp://bench:bench@127.0.0.1:${smsc.port}`,
    SMPP_WINDOW: String(window),
    SMPP_MAX_PER_SECOND: "100000"
  }
  const service = yield* startService(database, { env })
  const [caller] = yield* makeAccounts(database, 1)
  const one = Effect.gen(function*() {
    const loop = (options: Omit<SmppLoop, "port">) =>
      Effect.scoped(runScript<{ perSecond: number }>("smppLoop.ts", { port: smsc.port, ...options } satisfies SmppLoop))
    const bare = yield* loop({ window, submits: messages })
    const alone = yield* loop({ window: 1, submits: 100 })
    return {
      ours: yield* submits(service.port, caller?.key ?? ""),
      bare: bare.perSecond,
      roundTrips: window * alone.perSecond
    }
  })
  return yield* Effect.replicateEffect(one, rounds)
}, (effect, database) => Effect.scoped(Effect.provide(effect, client(database))))

/** Without a bind, so that only the acceptance is measured. */
const acceptance = Effect.fnUntraced(function*(database: BenchDatabase) {
  const env = {
    SMS_PROVIDER: "smpp",
    SMPP_URL: "smpp://bench:bench@127.0.0.1:1",
    SMS_QUOTA_BUSINESS: "1000000000",
    RATE_LIMIT_BUSINESS: "1000000"
  }
  const service = yield* startService(database, { env })
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from accounts`
  const callers = yield* makeAccounts(database, accounts)
  const load = (path: string, json: unknown, by: typeof callers = callers) =>
    Effect.scoped(runScript<Loaded>(
      "httpLoad.ts",
      {
        port: service.port,
        method: "POST",
        callers: by.map(({ key }) => ({ key, path })),
        body: JSON.stringify(json),
        connections,
        warmUpSeconds: 1,
        seconds
      } satisfies Load
    ))
  const text = { to: "+250788123456", content: "Hello" }
  const setPlan = (plan: string) => sql`update accounts set plan = ${plan} where id = ${callers[0]?.accountId ?? 0}`
  const one = Effect.gen(function*() {
    const sms = yield* load("/v1/sms/send", text)
    const ofOne = yield* load("/v1/sms/send", text, callers.slice(0, 1))
    yield* setPlan("business")
    const limited = yield* load("/v1/sms/send", text, callers.slice(0, 1))
    yield* setPlan("enterprise")
    return { sms, ofOne, limited, key: yield* load("/v1/api-keys", { name: "Bench" }) }
  })
  return yield* Effect.replicateEffect(one, rounds)
}, (effect, database) => Effect.scoped(Effect.provide(effect, client(database))))

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const runs = yield* throughput(database)
  const loads = yield* acceptance(database)
  yield* printTable(
    `sms: window ${window}, a carrier that answers after ${afterMillis} ms; median of ${rounds} rounds`,
    [
      {
        metric: "submits/s of the whole service",
        value: median(runs.map(({ ours }) => ours)),
        limit: { name: "a bare loop with the same window", value: median(runs.map(({ bare }) => bare)) },
        ratio: median(runs.map(({ bare, ours }) => ours / bare))
      },
      {
        metric: "",
        value: median(runs.map(({ ours }) => ours)),
        limit: {
          name: "the window divided by the round trip of a single submit; aim: at least 0.9",
          value: median(runs.map(({ roundTrips }) => roundTrips))
        },
        ratio: median(runs.map(({ ours, roundTrips }) => ours / roundTrips))
      },
      {
        metric: `POST /v1/sms/send, requests/s of ${connections} connections`,
        value: median(loads.map(({ sms }) => sms.perSecond)),
        limit: {
          name: "POST /v1/api-keys, one row; aim: at least 0.8",
          value: median(loads.map(({ key }) => key.perSecond))
        },
        ratio: median(loads.map(({ key, sms }) => sms.perSecond / key.perSecond))
      },
      {
        metric: "the same by one account, whose usage is one row per day",
        value: median(loads.map(({ ofOne }) => ofOne.perSecond)),
        limit: { name: `by ${accounts} accounts`, value: median(loads.map(({ sms }) => sms.perSecond)) },
        ratio: median(loads.map(({ ofOne, sms }) => ofOne.perSecond / sms.perSecond))
      },
      {
        metric: "the same by one account with a quota",
        value: median(loads.map(({ limited }) => limited.perSecond)),
        limit: { name: `by ${accounts} accounts`, value: median(loads.map(({ sms }) => sms.perSecond)) },
        ratio: median(loads.map(({ limited, sms }) => limited.perSecond / sms.perSecond))
      }
    ]
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
