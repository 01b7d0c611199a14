import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dkimKey, ended, insertDomain, sendBulk } from "../support/bulkMail.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { letter, makeCluster } from "./FaultCluster.ts"
import { sinkProcess } from "./SinkProcess.ts"
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("b", (it) => {
  it.effect("x", () => Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const sink = yield* sinkProcess
    const cluster = makeCluster({ smtpPort: sink.port })
    const node = yield* cluster.start
    const { accountId, key } = yield* makeAccount()
    yield* insertDomain(accountId, "signed.example", { key: dkimKey.pem })
    for (const from of [undefined, undefined, "a@signed.example", "a@signed.example"]) {
      const id = yield* sendBulk(node, key, { ...letter(Array.from({ length: 500 }, (_, i) => `fine${i}@p.example`)), ...(from && { from }) })
      yield* ended(node, key, id)
      const [r] = yield* sql`select extract(epoch from completed_at - created_at)::float8 as s from email_batches where id = ${id}`
      yield* Effect.log(`${from ?? "plain"} 500 in ${Number(r?.["s"]).toFixed(3)} s = ${(500 / Number(r?.["s"])).toFixed(0)}/s`)
    }
    const ids = yield* Effect.forEach([1,2,3,4,5,6,7,8], () => sendBulk(node, key, letter(Array.from({ length: 500 }, (_, i) => `fine${i}@p.example`))), { concurrency: 8 })
    for (const id of ids) yield* ended(node, key, id)
    const [r] = yield* sql`select extract(epoch from max(completed_at) - min(created_at))::float8 as s from email_batches where id in ${sql.in(ids)}`
    yield* Effect.log(`8 x 500 in ${Number(r?.["s"]).toFixed(3)} s = ${(4000 / Number(r?.["s"])).toFixed(0)}/s`)
  }), 60000)
})
