/**
 * Measures requests per second of the whole service: a GET that reads one row and a POST that inserts one. Each request
 * looks up and counts its API key. Compared with the same endpoints, hand-written with Fastify and postgres.js, and
 * with the bare statement. All use one durable PostgreSQL and take turns in each round.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import type { Loaded } from "./support/httpLoad.ts"
import { connections, type KeyOwner, loadOf, seconds } from "./support/keyLoad.ts"
import { statementLimit } from "./support/pgbench.ts"
import { runScript } from "./support/script.ts"
import { makeAccounts, startDatabase, startService } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 3
const accounts = 8

const columns = `id, name, key_prefix, scopes, permissions, last_used_at, expires_at, created_at,
  (expires_at is null or expires_at > now()) as is_active`

const selectOne = ({ accountId, keyId }: KeyOwner) =>
  `select ${columns} from api_keys where id = ${keyId} and account_id = ${accountId};`

const insertOne = ({ accountId }: KeyOwner) =>
  `insert into api_keys (account_id, name, key_hash, key_prefix, scopes, permissions, expires_at)
  values (${accountId}, 'Bench', sha256(gen_random_uuid()::text::bytea), 'sk_live_ABCD', '{}', '{}', null)
  returning ${columns};`

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const service = yield* startService(database)
  const { port: fastify } = yield* runScript<{ port: number }>("fastifyServer.ts", { socket: database.socket })
  const callers = yield* makeAccounts(database, accounts)
  return { callers, service: service.port, fastify, statement: statementLimit(database) }
})

type Round = Record<"ours" | "plain" | "counted", Loaded> & { readonly statement: number }

const measure = (setup: Effect.Success<typeof start>, method: "GET" | "POST") =>
  Effect.gen(function*() {
    const load = loadOf(setup.callers, method)
    const statement = (method === "GET" ? selectOne : insertOne)(
      setup.callers[0] ?? { accountId: 0, keyId: 0, key: "" }
    )
    const round: Round = {
      ours: yield* load(setup.service, ""),
      plain: yield* load(setup.fastify, ""),
      counted: yield* load(setup.fastify, "/counted"),
      statement: yield* Effect.scoped(setup.statement.measure(statement, seconds))
    }
    return round
  })

const linesOf = (name: string, all: ReadonlyArray<Round>, statementName: string): ReadonlyArray<Line> => {
  const line = (metric: string, limitName: string, read: (round: Round) => readonly [number, number]): Line => ({
    metric,
    value: median(all.map((round) => read(round)[0])),
    limit: { name: limitName, value: median(all.map((round) => read(round)[1])) },
    ratio: median(all.map((round) => read(round)[0] / read(round)[1]))
  })
  return [
    line(`${name}, requests/s`, "Fastify + postgres.js", ({ ours, plain }) => [ours.perSecond, plain.perSecond]),
    line("", "the same with a counted limit", ({ counted, ours }) => [ours.perSecond, counted.perSecond]),
    line("", statementName, ({ ours, statement }) => [ours.perSecond, statement]),
    line(`${name}, p99 in ms`, "Fastify + postgres.js", ({ ours, plain }) => [ours.p99, plain.p99]),
    line("", "the same with a counted limit", ({ counted, ours }) => [ours.p99, counted.p99])
  ]
}

const bench = Effect.gen(function*() {
  const setup = yield* start
  const gets = yield* Effect.replicateEffect(measure(setup, "GET"), rounds)
  const posts = yield* Effect.replicateEffect(measure(setup, "POST"), rounds)
  yield* printTable(`http: ${connections} connections, ${accounts} keys, median of ${rounds} rounds of ${seconds} s`, [
    ...linesOf("GET /v1/api-keys/{id}", gets, setup.statement.name),
    ...linesOf("POST /v1/api-keys", posts, setup.statement.name)
  ])
})

NodeRuntime.runMain(Effect.scoped(bench))
