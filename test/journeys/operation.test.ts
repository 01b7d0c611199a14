import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import { assertRefused } from "../contract/contract.ts"
import { makeAccount, Service } from "../support/Service.ts"

const connections = 6

/** How many more connections a node opens, by docs/operations.md. */
const furtherConnections = Number(
  /Each node opens `DATABASE_CONNECTIONS` \+ (\d+) connections/.exec(NodeFs.readFileSync("docs/operations.md", "utf8"))
    ?.[1]
)

layer(Service.layer({ env: { DATABASE_CONNECTIONS: String(connections) } }), {
  excludeTestServices: true
})("a node", (it) => {
  it.effect("opens at most the connections that operations.md names, however many requests come at once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const node = yield* Service
      const { key } = yield* makeAccount()
      const open = Effect.map(
        sql`select count(*)::integer as count from pg_stat_activity
          where datname = current_database() and application_name like 'messaging-service%'`,
        ([row]) => Number(row?.["count"])
      )
      const busy = Effect.forEach(
        Array.from({ length: 200 }),
        (_, index) =>
          Effect.andThen(
            node.request("POST", "/v1/email/send", {
              key,
              json: { to: `user${index}@example.com`, subject: "Hello", text: "Hello" },
              headers: { "idempotency-key": `${index}` }
            }),
            node.request("POST", "/v1/email/templates", {
              key,
              json: { name: "Hello", subject: "Hello", html: "Hello" }
            })
          ),
        { concurrency: 100, discard: true }
      )
      const seen: Array<number> = []
      const sample = Effect.map(open, (count) => void seen.push(count))
      yield* Effect.raceFirst(busy, Effect.repeat(sample, Schedule.spaced("20 millis")))
      yield* sample
      assert.isAbove(Math.max(...seen), connections)
      assert.isAtMost(Math.max(...seen), connections + furtherConnections)
    }))

  it.effect("logs the whole cause of a 500 under the request id that the client got, which learns nothing else", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const node = yield* Service
      const { key } = yield* makeAccount()
      yield* sql`alter table email_templates rename column variables to elsewhere`
      const answer = yield* node.request("GET", "/v1/email/templates", { key })
      yield* sql`alter table email_templates rename column elsewhere to variables`
      assertRefused(answer, 500, "internal_error")
      assert.notInclude(answer.text, "elsewhere")
      assert.notInclude(answer.text, "variables")
      const line = yield* node.logged(`"request_id":"${String(answer.headers["x-request-id"])}"`)
      assert.match(line, /column \\?"variables\\?" does not exist/)
    }))
})
