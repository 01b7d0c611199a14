import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { guardAgainstPumping } from "../../src/verify/PumpingGuard.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** An account with this many sent and confirmed codes, all with one prefix, `minutes` ago. */
const sent = Effect.fnUntraced(function*(
  { approved, minutes = 5, networks = 0, people, sends }: {
    readonly sends: number
    readonly people: number
    readonly approved: number
    readonly minutes?: number
    /** Client networks that the requests name in turn; 0: they name none. */
    readonly networks?: number
  }
) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  yield* sql`insert into verifications (id, account_id, recipient, channel, status, code_seed, locale, expires_at)
    select 'ver_' || ${accountId}::bigint || '_' || n, ${accountId}::bigint, '+2507881100' || n, 'sms',
      case when n <= ${approved}::int then 'approved' else 'expired' end, 'seed', 'en', now()
    from generate_series(1, ${people}::int) n`
  yield* sql`insert into verification_sends (verification_id, account_id, recipient, prefix, client_network, created_at)
    select 'ver_' || ${accountId}::bigint || '_' || (n % ${people}::int + 1), ${accountId}::bigint, 'x', '+25078811',
      case when ${networks}::int > 0 then ('203.0.113.' || n % greatest(${networks}::int, 1))::inet end,
      now() - ${minutes}::int * interval '1 minute' from generate_series(1, ${sends}::int) n`
  return accountId
})

const isBlocked = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select prefix from verification_blocks where account_id = ${accountId}`
  const notices = yield* sql`select kind from notices where account_id = ${accountId}`
  assert.strictEqual(notices.length, rows.length)
  return rows.length > 0
})

layer(Notices.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("PumpingGuard", (it) => {
  it.effect("a prefix is blocked if fewer than a fifth of the recipients confirmed a code, and the owner gets one notice", () =>
    Effect.gen(function*() {
      const cases = [
        [{ sends: 20, people: 20, approved: 3 }, true],
        [{ sends: 20, people: 20, approved: 4 }, false],
        [{ sends: 19, people: 19, approved: 0 }, false],
        // Ten people requested two codes each.
        [{ sends: 20, people: 10, approved: 2 }, false],
        [{ sends: 20, people: 10, approved: 1 }, true],
        // One network counts for ten codes.
        [{ sends: 200, people: 200, approved: 0, networks: 1 }, false],
        [{ sends: 20, people: 20, approved: 0, networks: 2 }, true],
        // They may still be typing, or it was long ago.
        [{ sends: 40, people: 40, approved: 0, minutes: 1 }, false],
        [{ sends: 40, people: 40, approved: 0, minutes: 61 }, false]
      ] as const
      const accounts = yield* Effect.forEach(cases, ([asked]) => sent(asked))
      yield* guardAgainstPumping
      yield* guardAgainstPumping
      assert.deepStrictEqual(yield* Effect.forEach(accounts, isBlocked), cases.map(([, expected]) => expected))
    }))

  it.effect("a released prefix is blocked again only after the end of its block", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accountId = yield* sent({ sends: 20, people: 20, approved: 0 })
      const open = sql`select prefix from verification_blocks
        where account_id = ${accountId} and until > now() and released_at is null`
      yield* guardAgainstPumping
      assert.strictEqual((yield* open).length, 1)
      yield* sql`update verification_blocks set released_at = now() where account_id = ${accountId}`
      yield* guardAgainstPumping
      assert.strictEqual((yield* open).length, 0)
      yield* sql`update verification_blocks set until = now() where account_id = ${accountId}`
      yield* guardAgainstPumping
      assert.strictEqual((yield* open).length, 1)
    }))
})
