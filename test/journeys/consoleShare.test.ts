/** What people look at in the console takes few of the connections that requests of the API need. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { signedInAs } from "../support/consolePeople.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"

const env = { DATABASE_CONNECTIONS: "10", STATEMENT_TIMEOUT_SECONDS: "120" }

layer(Service.layer({ env }), { excludeTestServices: true })("many slow pages", (it) => {
  it.effect(
    "a hundred pages and files that wait for a slow table leave the API able to send and to list",
    () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const { cookie } = yield* signedInAs(accountId, "owner")
        const open = (path: string) => request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
        assert.strictEqual((yield* open("/messages")).status, 200)
        // A transaction sees the activity of its first look, unless it forgets it.
        const waiting = Effect.andThen(
          sql`select pg_stat_clear_snapshot()`,
          sql<{ pages: number }>`select count(*)::integer as pages from pg_stat_activity
            where wait_event_type = 'Lock' and query like '%as batch_subject%'`
        )
        const pages = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`lock table email_messages in access exclusive mode`
          const pages = yield* Effect.forkDetach(
            Effect.forEach(
              Array.from({ length: 100 }, (_, i) => i % 2),
              (isFile) => open(isFile === 1 ? "/messages?format=csv" : "/messages"),
              { concurrency: "unbounded" }
            )
          )
          yield* eventually(waiting, ([row]) => Number(row?.pages) >= 2)
          for (let round = 0; round < 5; round++) {
            const json = { to: "+250788123456", content: "Hello" }
            assert.strictEqual((yield* request("POST", "/v1/sms/send", { key, json })).status, 202)
            assert.strictEqual((yield* request("GET", "/v1/sms/messages", { key })).status, 200)
          }
          const [row] = yield* waiting
          assert.strictEqual(Number(row?.pages), 2)
          return pages
        }))
        for (const { status } of yield* Fiber.join(pages)) assert.strictEqual(status, 200)
      })
  )
})
