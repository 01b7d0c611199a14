import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Erasure } from "../../../src/accounts/Erasure.ts"
import { ErasureSteps } from "../../../src/app/server/Retention.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { plansOf, rowsRead } from "../../support/plans.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Subject = ErasureSteps.pipe(Layer.provideMerge(TestDatabase.layer))

layer(Subject, { excludeTestServices: true })("ErasureSteps", (it) => {
  it.effect("attempts of an account are erased by statements that each read a part of the attempts of all accounts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const steps = yield* Erasure
      // Messages of two channels have the same ids. Those of the second account are where a portion ends.
      yield* sql`insert into message_attempts (account_id, channel, message_id, attempt, outcome)
        select 1, 'email', n, 1, 'accepted' from generate_series(1, 200000) n
        union all select 2, 'sms', n, 1, 'accepted' from generate_series(20000, 200000, 20000) n`
      yield* sql`analyze message_attempts`
      const plans = yield* Effect.forEach(
        steps,
        ({ some }) => plansOf(some(AccountId.make(2)), "message_attempts")
      )
      assert.isNotEmpty(plans.flat())
      for (const plan of plans.flat()) assert.isBelow(rowsRead(plan), 100_000, plan)
      const left = yield* sql`select account_id, count(*) from message_attempts group by account_id`
      assert.deepStrictEqual(left, [{ account_id: 1, count: 200_000 }])
    }))
})
