import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune } from "../../../src/app/server/Pruning.ts"
import { FaultLimitReached, maxPlanned, SandboxFaults } from "../../../src/messages/SandboxFault.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Database } from "../../../src/platform/database/Database.ts"
import { PlannedFaults } from "../../../src/sandbox/faults/PlannedFaults.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const open = Effect.map(Layer.build(PlannedFaults), (context) => Context.get(context, SandboxFaults))

layer(Database.fromClient.pipe(Layer.provideMerge(TestDatabase.layer)))("planned faults in SQL", (it) => {
  describe("PlannedFaults", () => {
    it.effect("each planned fault has one taker, and the others of many at once get none", () =>
      Effect.gen(function*() {
        const faults = yield* open
        const account = AccountId.make(-1)
        for (const _ of [1, 2, 3]) yield* faults.plan(account, "sms_lost")
        const taken = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => faults.take(account, "sms"),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(taken.filter((fault) => fault === "sms_lost").length, 3)
        assert.strictEqual(taken.filter((fault) => fault === undefined).length, 17)
        assert.deepStrictEqual(yield* faults.list(account), [])
      }))

    it.effect("the oldest fault of the channel is taken first, and those of other channels and accounts stay", () =>
      Effect.gen(function*() {
        const faults = yield* open
        const [mine, theirs] = [AccountId.make(-2), AccountId.make(-3)]
        yield* faults.plan(mine, "sms_lost")
        yield* faults.plan(mine, "email_defer")
        yield* faults.plan(mine, "email_bounce")
        yield* faults.plan(theirs, "email_hang_up")
        assert.strictEqual(yield* faults.take(mine, "email"), "email_defer")
        assert.strictEqual(yield* faults.take(mine, "email"), "email_bounce")
        assert.isUndefined(yield* faults.take(mine, "email"))
        assert.isUndefined(yield* faults.take(mine, "whatsapp"))
        assert.deepStrictEqual((yield* faults.list(mine)).map(({ fault }) => fault), ["sms_lost"])
        assert.strictEqual(yield* faults.clear(mine), 1)
        assert.deepStrictEqual((yield* faults.list(theirs)).map(({ fault }) => fault), ["email_hang_up"])
      }))

    it.effect("a fault that no message met within an hour is neither taken nor listed, and counts for no limit", () =>
      Effect.gen(function*() {
        const faults = yield* open
        const sql = yield* SqlClient.SqlClient
        const [account, other] = [AccountId.make(-5), AccountId.make(-6)]
        const age = (minutes: number) =>
          sql`update sandbox_faults set created_at = now() - make_interval(mins => ${minutes}) where account_id = ${account}`
        const { created_at, expires_at } = yield* faults.plan(account, "sms_lost")
        assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 3_600_000)
        for (let count = 1; count < maxPlanned; count++) yield* faults.plan(account, "sms_lost")
        yield* age(59)
        assert.strictEqual(yield* faults.take(account, "sms"), "sms_lost")
        assert.lengthOf(yield* faults.list(account), maxPlanned - 1)
        yield* age(60)
        assert.isUndefined(yield* faults.take(account, "sms"))
        assert.deepStrictEqual(yield* faults.list(account), [])
        assert.strictEqual(yield* faults.clear(account), 0)
        yield* faults.plan(account, "sms_lost")
        yield* faults.plan(other, "sms_lost")
        // The clock of retention stands at the start of the test run, and a round moves it by at most an hour.
        yield* sql`update retention_clock set at = now()`
        yield* Effect.provide(prune, AppConfig.layer)
        const left = yield* sql`select account_id::integer as account from sandbox_faults
          where account_id in (${account}, ${other}) order by account_id desc`
        assert.deepStrictEqual(left, [{ account }, { account: other }])
      }))

    it.effect("requests at once plan no more than the limit", () =>
      Effect.gen(function*() {
        const faults = yield* open
        const account = AccountId.make(-4)
        const results = yield* Effect.forEach(
          Array.from({ length: maxPlanned + 5 }),
          () => Effect.result(faults.plan(account, "email_bounce")),
          { concurrency: "unbounded" }
        )
        const refused = results.flatMap((result) => result._tag === "Failure" ? [result.failure] : [])
        assert.deepStrictEqual(refused, Array.from({ length: 5 }, () => new FaultLimitReached({ limit: maxPlanned })))
        assert.strictEqual((yield* faults.list(account)).length, maxPlanned)
      }))
  })
})
