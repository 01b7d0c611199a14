import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Notice } from "../../../src/accounts/notices/Notice.ts"
import { Notices } from "../../../src/accounts/notices/Notices.ts"
import type { AccountId } from "../../../src/values/Ids.ts"
import { makeAccount } from "../../support/Service.ts"
import { TestDatabase, transaction } from "../../support/TestDatabase.ts"

const about = (accountId: AccountId, once?: string): Notice => ({
  accountId,
  kind: "webhook_unhealthy",
  subject: "Your webhook is unhealthy",
  body: "It fails.",
  ...(once !== undefined && { once })
})

/** The number of the account's notices. */
const count = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`select from notices where account_id = ${accountId}`).length
})

layer(Notices.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })("Notices", (it) => {
  it.effect("a notice commits or rolls back with the change that it reports", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { enqueue } = yield* Notices
      const { accountId } = yield* makeAccount()
      const fact = (name: string) =>
        Effect.andThen(sql`update accounts set name = ${name} where id = ${accountId}`, enqueue(about(accountId)))
      const name = Effect.map(sql`select name from accounts where id = ${accountId}`, ([row]) => row?.["name"])
      yield* Effect.flip(transaction(Effect.andThen(fact("rolled back"), Effect.fail("no"))))
      assert.deepStrictEqual([yield* name, yield* count(accountId)], ["Test", 0])
      yield* transaction(fact("committed"))
      assert.deepStrictEqual([yield* name, yield* count(accountId)], ["committed", 1])
    }))

  it.effect("a notice with the same account, kind and key is dropped, and one without a key is not", () =>
    Effect.gen(function*() {
      const { enqueue } = yield* Notices
      const { accountId } = yield* makeAccount()
      const other = (yield* makeAccount()).accountId
      for (const key of ["7", "7", "8", undefined, undefined]) yield* enqueue(about(accountId, key))
      yield* enqueue(about(other, "7"))
      assert.deepStrictEqual([yield* count(accountId), yield* count(other)], [4, 1])
    }))

  it.effect("of two concurrent notices with one key, one is stored", () =>
    Effect.gen(function*() {
      const { enqueue } = yield* Notices
      const { accountId } = yield* makeAccount()
      const both = Array.from({ length: 8 }, () => transaction(enqueue(about(accountId, "7"))))
      yield* Effect.all(both, { concurrency: "unbounded" })
      assert.strictEqual(yield* count(accountId), 1)
    }))

  it.effect("a notice that a later sender has claimed is no longer that of the former one", () =>
    Effect.gen(function*() {
      const { claimOldest, enqueue, stillClaimed } = yield* Notices
      const { accountId } = yield* makeAccount()
      yield* enqueue(about(accountId))
      const claim = Effect.map(
        claimOldest({ inFlight: [], domain: "example.com", maxAttempts: 9 }, [99, 99]),
        (claimed) => claimed.filter(({ account_id }) => account_id === accountId)
      )
      const former = yield* claim
      assert.deepStrictEqual(yield* stillClaimed(former), former)
      const present = yield* claim
      assert.deepStrictEqual([yield* stillClaimed(former), yield* stillClaimed(present)], [[], present])
    }))

  it.effect("an outcome of a former sender is dropped after a later one has uncounted its attempt", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { claimOldest, enqueue, settle, stillClaimed } = yield* Notices
      const { accountId } = yield* makeAccount()
      yield* enqueue(about(accountId))
      const claim = Effect.map(
        claimOldest({ inFlight: [], domain: "example.com", maxAttempts: 9 }, [99, 99]),
        (claimed) => claimed.find(({ account_id }) => account_id === accountId) ?? assert.fail("it was not claimed")
      )
      const former = yield* claim
      const outcome = { delay: undefined, error: null, isUnconfirmed: false } as const
      const uncounted = { ...outcome, status: "queued", attempt_count: 1, delay: Duration.seconds(1) } as const
      yield* settle(yield* claim, uncounted)
      assert.deepStrictEqual(yield* stillClaimed([former]), [])
      yield* settle(former, { ...outcome, status: "failed", attempt_count: 1 })
      const rows = yield* sql`select status, attempt_count from notices where account_id = ${accountId}`
      assert.deepStrictEqual(rows, [{ status: "queued", attempt_count: 1 }])
    }))

  it.effect("a statement of another domain can insert a notice with the same effect", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const rename = (name: string) =>
        sql`with changed as (update accounts set name = ${name} where id = ${accountId} returning id)
          insert into notices (account_id, kind, once, subject, body)
          select id, 'webhook_unhealthy', '7', 'Renamed', 'To ' || ${name}::text from changed on conflict do nothing`
      yield* rename("one")
      yield* rename("two")
      assert.deepStrictEqual(yield* sql`select body from notices where account_id = ${accountId}`, [{ body: "To one" }])
    }))

  it.effect("notices are deleted with their account", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { enqueue } = yield* Notices
      const { accountId } = yield* makeAccount()
      yield* enqueue(about(accountId))
      yield* sql`delete from accounts where id = ${accountId}`
      assert.strictEqual(yield* count(accountId), 0)
    }))
})
