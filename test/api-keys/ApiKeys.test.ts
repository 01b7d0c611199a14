import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { ApiKeys } from "../../src/api-keys/ApiKeys.ts"
import { QuickReads } from "../../src/platform/database/QuickReads.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import type { Plan } from "../../src/values/Plan.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const account = (plan: Plan) =>
  Effect.flatMap(
    Accounts,
    (accounts) =>
      accounts.create({ name: "Ada", email: EmailAddress.make(`${plan}-${++made}@example.com`), plan, trial: false })
  )

let made = 0

layer(
  Layer.merge(Accounts.layer, ApiKeys.layer).pipe(
    Layer.provide([Audit.layer, Notices.layer]),
    Layer.provideMerge(TestDatabase.layer)
  )
)("API keys", (it) => {
  for (const [plan, limit] of [["starter", 1], ["growth", 3], ["business", 10]] as const) {
    it.effect(`an account on the ${plan} plan gets exactly ${limit} keys, even with 100 concurrent requests`, () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys
        const { id } = yield* account(plan)
        const results = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, i) => i),
          (i) => Effect.result(keys.create(id, { name: `Key ${i}` })),
          { concurrency: "unbounded" }
        )
        const refused = results.flatMap((result) => result._tag === "Failure" ? [result.failure] : [])
        assert.strictEqual(results.length - refused.length, limit)
        for (const failure of refused) {
          assert.deepInclude(failure, { _tag: "PlanLimitExceeded", limit, current: limit, resource: "api_keys" })
        }
        assert.strictEqual((yield* keys.list(id)).length, limit)
      }))
  }

  it.effect("an account on the enterprise plan gets any number of keys", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      const { id } = yield* account("enterprise")
      yield* Effect.forEach(Array.from({ length: 30 }), () => keys.create(id, { name: "One of many" }), {
        concurrency: 10
      })
      assert.strictEqual((yield* keys.list(id)).length, 30)
    }))

  it.effect("a list of many keys holds up no quick reads of others", () =>
    Effect.gen(function*() {
      const { id } = yield* account("enterprise")
      const made = yield* (yield* ApiKeys).create(id, { name: "First" })
      const quick = Layer.succeed(QuickReads, QuickReads.of({ rows: () => Effect.die("a quick read") }))
      const list = Effect.flatMap(ApiKeys, (keys) => keys.list(id)).pipe(
        Effect.provide(Layer.fresh(ApiKeys.layer).pipe(Layer.provide([Audit.layer, Notices.layer, quick])))
      )
      assert.deepStrictEqual((yield* list).map((key) => key.id), [made.id])
    }))

  it.effect("expired and revoked keys do not count towards the limit", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* account("starter")
      const first = yield* keys.create(id, { name: "First" })
      assert.strictEqual((yield* Effect.flip(keys.create(id, { name: "Second" })))._tag, "PlanLimitExceeded")
      yield* sql`update api_keys set expires_at = now() where id = ${first.id}`
      const second = yield* keys.create(id, { name: "Second" })
      yield* keys.revoke(id, second.id)
      yield* keys.create(id, { name: "Third" })
      const list = yield* keys.list(id)
      assert.deepStrictEqual(list.map(({ is_active, name }) => [name, is_active]), [["Third", true], ["First", false]])
    }))

  it.effect("keys above the limit of a smaller plan stay valid, but no more can be created", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      const { id } = yield* account("growth")
      for (const name of ["A", "B", "C"]) yield* keys.create(id, { name })
      yield* Effect.flatMap(Accounts, (accounts) => accounts.setPlan(id, "starter"))
      const refused = yield* Effect.flip(keys.create(id, { name: "D" }))
      assert.deepInclude(refused, { _tag: "PlanLimitExceeded", limit: 1, current: 3 })
      assert.strictEqual((yield* keys.list(id)).length, 3)
    }))

  it.effect("a key whose expiry is in the past is refused", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      const { id } = yield* account("enterprise")
      const refused = yield* Effect.flip(keys.create(id, { name: "Past", expires_at: "2020-01-31T09:00:00+02:00" }))
      assert.strictEqual(refused._tag, "ValidationFailed")
      const made = yield* keys.create(id, { name: "Future", expires_at: "2999-01-31T09:00:00.123456789+02:00" })
      assert.strictEqual(made.expires_at, "2999-01-31T07:00:00.123457Z")
    }))
})
