import type { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Database } from "../../src/platform/database/Database.ts"
import { eventually } from "./Service.ts"
import { TestDatabase, transaction } from "./TestDatabase.ts"

type Client = Database | PgClient.PgClient | SqlClient.SqlClient

/** A kind of row with one owner at a time. `Row` identifies what one test made, `Claim` what its owner remembers. */
interface Owners<R, Row, Claim> {
  /** The code of an owner. Each owner builds its own. */
  readonly layer: Layer.Layer<R, unknown, Client | TestDatabase>
  /** Makes work without an owner. */
  readonly make: Effect.Effect<Row, unknown, R | Client>
  /** Becomes the first owner. */
  readonly claim: (row: Row) => Effect.Effect<Claim, unknown, R | Client>
  /** Becomes the next owner, although the former one has not released its claim. */
  readonly takeOver: (row: Row) => Effect.Effect<Claim, unknown, R | Client>
  /** What an owner writes, by name. */
  readonly writes: Readonly<Record<string, (claim: Claim, row: Row) => Effect.Effect<unknown, unknown, R | Client>>>
  /** Renews claims, and answers with those that are still held, for claims with a lease. */
  readonly renew?: (claims: ReadonlyArray<Claim>) => Effect.Effect<ReadonlyArray<Claim>, unknown, R | Client>
  /** Everything that these writes change. */
  readonly state: (row: Row) => Effect.Effect<unknown, unknown, R | Client>
}

/** Whether a statement waits for a lock of the current transaction. */
const blocksOthers = Effect.map(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select exists (select from pg_locks l
      where not l.granted and pg_backend_pid() = any(pg_blocking_pids(l.pid))) as is`),
  ([row]) => row?.["is"] === true
)

/**
 * Tests that a former owner changes nothing: two owners with a pool each, and a barrier between the claim of the
 * first and its write. It writes after the second one has committed its takeover, and once more while that transaction
 * is open. The same write of the present owner shows that the state would reveal a change.
 */
export const formerOwnerChangesNothing = <R, Row, Claim>(
  what: string,
  { claim, make, renew, state, takeOver, writes, ...owners }: Owners<R, Row, Claim>
) =>
  layer(TestDatabase.layer, { excludeTestServices: true })(`a former owner of ${what}`, (it) => {
    const owner = Effect.map(
      Layer.build(Layer.fresh(owners.layer.pipe(Layer.provideMerge(TestDatabase.layerClient)))),
      (context) => <A, E>(effect: Effect.Effect<A, E, R | Client>) => Effect.provide(effect, context)
    )

    it.effect.each(Object.entries(writes))("changes nothing by its %s", ([, write]) =>
      Effect.gen(function*() {
        const [former, present] = [yield* owner, yield* owner]
        const row = yield* former(make)
        const before = yield* former(claim(row))
        const after = yield* present(takeOver(row))
        const taken = yield* present(state(row))
        yield* former(write(before, row))
        assert.deepStrictEqual(yield* present(state(row)), taken, "after the takeover")
        yield* present(write(after, row))
        assert.notDeepEqual(yield* present(state(row)), taken, "the present owner")
      }))

    it.effect.each(Object.entries(writes))("changes nothing by its %s while it loses the row", ([, write]) =>
      Effect.gen(function*() {
        const [former, present] = [yield* owner, yield* owner]
        const row = yield* former(make)
        const before = yield* former(claim(row))
        const barrier = yield* Deferred.make<void>()
        const late = yield* Effect.forkChild(Effect.andThen(Deferred.await(barrier), former(write(before, row))))
        const taken = yield* present(transaction(Effect.gen(function*() {
          yield* takeOver(row)
          const after = yield* state(row)
          yield* Deferred.succeed(barrier, undefined)
          // It waits for the row, or skips it.
          yield* eventually(blocksOthers, (is) =>
            is || late.pollUnsafe() !== undefined)
          return after
        })))
        yield* Fiber.join(late)
        assert.deepStrictEqual(yield* present(state(row)), taken)
      }))

    if (renew === undefined) {
      return
    }
    it.effect("does not renew its lost claim when it owns the row again", () =>
      Effect.gen(function*() {
        const again = yield* owner
        const row = yield* again(make)
        const lost = yield* again(claim(row))
        const held = yield* again(takeOver(row))
        assert.deepStrictEqual(yield* again(renew([lost, held])), [held])
      }))
  })
