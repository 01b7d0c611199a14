import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Random } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Query from "../../src/platform/database/Query.ts"
import { NotFound } from "../../src/platform/http/ApiErrors.ts"
import { Idempotency, WriteWithAnswer } from "../../src/platform/http/Idempotency.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { noLease, type Receiver, type Verdict } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Settings, TestVault } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

interface Asked {
  readonly key: string
  /** Whether its endpoint waits for something other than the database. */
  readonly waits: boolean
}

const itemOf = (key: unknown) => `request ${key}`

const caller = { name: "test", accountId: AccountId.make(1) }

/** Another answer may follow 503. */
const statuses: Record<Exclude<Verdict, "refused">, number> = {
  accepted: 201,
  deferred: 503,
  lost: 503,
  unavailable: 503
}

const requestOf = ({ key }: Asked) =>
  HttpServerRequest.fromWeb(new Request("http://node/", { method: "POST", headers: { "idempotency-key": key } }))

/** Endpoints with an effect. One of them waits for the receiver. */
const endpointsOf = (sql: PgClient.PgClient, node: VirtualNode, receiver: Receiver) => {
  const write = (key: string) => Query.run(sql`update requests set effects = effects + 1 where key = ${key}`)
  return {
    waiting: Effect.fnUntraced(function*({ key }: Asked, since: number) {
      const verdict = yield* receiver.receive({ node, item: itemOf(key), claim: 0, lease: noLease, since })
      if (verdict === "refused") return yield* new NotFound()
      if (verdict === "accepted") yield* (yield* WriteWithAnswer)(write(key))
      return HttpServerResponse.empty({ status: statuses[verdict] })
    }),
    /** Its refusal rolls its write back. */
    writing: Effect.fnUntraced(function*({ key }: Asked) {
      yield* write(key)
      if ((yield* Random.nextIntBetween(0, 3)) === 0) return yield* new NotFound()
      return HttpServerResponse.empty({ status: 201 })
    })
  }
}

/** Lets clients repeat each request on the node until it has an answer, and note the answers that they get. */
const sendAll = Effect.fnUntraced(function*(node: VirtualNode, receiver: Receiver) {
  const sql = yield* PgClient.PgClient
  const { once } = yield* Idempotency
  const { waiting, writing } = endpointsOf(sql, node, receiver)
  const ask = Effect.fnUntraced(function*(asked: Asked) {
    const endpoint = asked.waits ? waiting(asked, receiver.now) : writing(asked)
    const { status } = yield* once({ caller, body: "{}", waits: asked.waits }, endpoint)
    if (status === 503) return
    yield* sql`update requests set answers = array_append(answers, ${status}) where key = ${asked.key}`
  }, (effect, asked) => Effect.provideService(effect, HttpServerRequest.HttpServerRequest, requestOf(asked)))
  const askAll = Effect.gen(function*() {
    const unanswered = yield* sql<Asked>`select key, waits from requests q
      where not exists (select from idempotency_records r where r.key = q.key) order by key`
    for (const asked of unanswered) yield* Effect.forkScoped(Effect.exit(ask(asked)))
    yield* Effect.sleep(yield* Random.nextIntBetween(500, 6_000))
  })
  return yield* Effect.forever(Effect.ignoreCause(askAll))
})

/** Requests with an `Idempotency-Key`, which clients send to both nodes. The key's row is the claim. */
export const idempotentRequests: Workload = {
  name: "idempotent requests",
  tables: ["idempotency_claims", "idempotency_records", "requests"],
  // A claim outlasts the other freezes.
  faults: { freezes: [[1, 200, 4_000], [3, 50_000, 75_000]] },
  rows: {
    relation: "idempotency_claims",
    all: `select to_jsonb(q) || jsonb_build_object('status', r.status) as row
      from requests q left join idempotency_records r on r.key = q.key`,
    itemOf: ({ key }) => itemOf(key),
    claimOf: ({ holder }) => holder,
    mayReclaim: ({ at, before }) => at >= Date.parse(String(before["expires_at"])),
    // A node whose claim has expired may ask once more, and stores nothing.
    hasNoLease: true,
    // The effect and all answers agree with the stored one.
    isFinal: ({ answers, effects, status }) =>
      typeof status === "number" && effects === (status === 201 ? 1 : 0) &&
      Array.isArray(answers) && answers.every((answer) => answer === status),
    isSent: ({ status, waits }) => waits === true && status === 201
  },
  accept: ({ draw }) => [
    `insert into requests (key, waits) select (select count(*) from requests) || '.' || n, n <> $2
      from generate_series(1, $1::integer) n`,
    [draw.between(1, 3), draw.between(1, 3)]
  ],
  start: Effect.fnUntraced(function*(node, receiver) {
    const services = yield* Layer.build(Idempotency.layer.pipe(Layer.provide([Settings, TestVault])))
    yield* Effect.forkScoped(Effect.provide(sendAll(node, receiver), services))
    return { wake: Effect.void }
  })
}
