import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PlanLimits } from "../../src/accounts/PlanLimits.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase, transaction } from "../support/TestDatabase.ts"

layer(PlanLimits.layer.pipe(Layer.provide(AppConfig.layer), Layer.provideMerge(TestDatabase.layer)))(
  "plan limits",
  (it) => {
    it.effect("concurrent requests cannot exceed a limit on resources held at a time", () =>
      Effect.gen(function*() {
        const limits = yield* PlanLimits
        const { accountId } = yield* makeAccount({ plan: "growth" })
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table if not exists things (account_id bigint)`
        const counting = Effect.map(
          sql`select count(*) as n from things where account_id = ${accountId}`,
          ([row]) => Number(row?.["n"])
        )
        const open = transaction(Effect.andThen(
          limits.requireCapacity(accountId, "whatsapp_sessions", counting),
          sql`insert into things values (${accountId})`
        ))
        const results = yield* Effect.all(Array.from({ length: 20 }, () => Effect.result(open)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 3)
        const refused = yield* Effect.flip(open)
        assert.deepInclude(refused, { limit: 3, current: 3, resource: "whatsapp_sessions" })
      }))
  }
)
