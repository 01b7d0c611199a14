import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type AllottedTurn, FairClaims } from "../../../src/platform/work/FairClaims.ts"
import { Wakeup } from "../../../src/platform/work/Wakeup.ts"

interface Row {
  readonly lane: number
  readonly account_id: number
  readonly no: number
}

const rows = (account_id: number, count: number, lane = 0): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, no) => ({ lane, account_id, no }))

/** A table in memory with two lanes, and a worker that holds what it claimed. */
const makeTable = Effect.fnUntraced(function*(initial: ReadonlyArray<Row>) {
  const queued = [...initial]
  const inFlight = new Set<Row>()
  const paused = new Set<number>()
  const seen = { scans: 0 }
  const take = (count: number, from: (row: Row) => boolean) => {
    const taken = queued.filter(from).slice(0, Math.max(0, count))
    for (const row of taken) queued.splice(queued.indexOf(row), 1)
    return taken
  }
  const isOf = ({ account_id, lane }: AllottedTurn) => (row: Row) => row.lane === lane && row.account_id === account_id
  const wakeup = yield* Wakeup.make
  const fairClaim = FairClaims.make<Row>({
    lanes: 2,
    turnOf: (row) => row,
    claimOldest: ([limit = 0, later = 0]) =>
      Effect.sync(() => {
        const first = take(limit, ({ lane }) => lane === 0)
        return [...first, ...take(Math.min(later, limit - first.length), ({ lane }) => lane === 1)]
      }),
    waiting: () =>
      Effect.sync(() => {
        seen.scans++
        return Array.from(Map.groupBy(queued, ({ account_id, lane }) => `${lane} ${account_id}`).values())
          .flatMap(([first]) => first ?? [])
      }),
    claimTurns: (turns) => Effect.sync(() => turns.flatMap((turn) => take(turn.limit, isOf(turn)))),
    paused: Effect.succeed(paused)
  }, wakeup)
  /** Claims up to the limit, of which an account may have four in flight. */
  const claim = (limit: number, lanes: ReadonlyArray<number> = [limit, limit]) =>
    fairClaim({
      limit,
      lanes,
      inFlight,
      accountLimit: 4,
      ofAccount: (account) => 4 - Array.from(inFlight).filter(({ account_id }) => account_id === account).length
    }).pipe(Effect.tap((claimed) => Effect.sync(() => claimed.forEach((row) => inFlight.add(row)))))
  const accounts = (claimed: ReadonlyArray<Row>) => claimed.map(({ account_id }) => account_id)
  return { queued, inFlight, paused, seen, wakeup, claim, accounts }
})

describe("FairClaims", () => {
  it.effect("claims the oldest rows, and reads no accounts, while all due rows fit into the room", () =>
    Effect.gen(function*() {
      const { accounts, claim, queued, seen } = yield* makeTable([...rows(2, 1), ...rows(1, 1)])
      assert.deepStrictEqual(accounts(yield* claim(4)), [2, 1])
      queued.push(...rows(3, 1))
      assert.deepStrictEqual(accounts(yield* claim(3)), [3])
      assert.strictEqual(seen.scans, 0)
    }))

  it.effect("reads the accounts again after the pause, also if the clock is set back meanwhile", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("2 hours")
      const { accounts, claim, inFlight, queued } = yield* makeTable(rows(1, 1_000))
      yield* claim(2)
      inFlight.clear()
      yield* claim(1)
      inFlight.clear()
      queued.push(...rows(2, 1))
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("1 second")
      const claimed = [...accounts(yield* claim(1)), ...accounts(yield* claim(1))]
      assert.include(claimed, 2)
    }))

  it.effect("lets accounts take turns when one has a backlog", () =>
    Effect.gen(function*() {
      const { accounts, claim, inFlight, queued, seen } = yield* makeTable(rows(1, 1_000))
      yield* claim(2)
      inFlight.clear()
      queued.push(...rows(2, 3), ...rows(3, 1))
      const order: Array<number> = []
      for (let n = 0; n < 8; n++) {
        order.push(...accounts(yield* claim(1)))
        inFlight.clear()
      }
      assert.deepStrictEqual(order, [1, 2, 3, 1, 2, 1, 2, 1])
      assert.strictEqual(seen.scans, 1)
    }))

  it.effect("leaves slots to other accounts, and finds a new one as soon as the accounts may be read again", () =>
    Effect.gen(function*() {
      const { accounts, claim, queued, wakeup } = yield* makeTable(rows(1, 100))
      assert.deepStrictEqual(accounts(yield* claim(6)), [1, 1, 1, 1])
      assert.deepStrictEqual(yield* claim(2), [])
      queued.push(...rows(2, 1))
      // The accounts were just read.
      assert.deepStrictEqual(yield* claim(2), [])
      const woken = yield* Effect.forkChild(wakeup.wait(), { startImmediately: true })
      yield* TestClock.adjust("100 millis")
      assert.isDefined(woken.pollUnsafe())
      assert.deepStrictEqual(accounts(yield* claim(2)), [2])
    }))

  it.effect("claims no row of a paused account", () =>
    Effect.gen(function*() {
      const { accounts, claim, paused } = yield* makeTable([...rows(1, 3), ...rows(2, 2)])
      paused.add(1)
      assert.deepStrictEqual(accounts(yield* claim(4)), [2, 2])
      assert.deepStrictEqual(yield* claim(2), [])
      paused.clear()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(accounts(yield* claim(4)), [1, 1, 1])
    }))

  it.effect("keeps the room of the first lane free of later lanes", () =>
    Effect.gen(function*() {
      const { claim, queued } = yield* makeTable(rows(1, 100, 1))
      yield* claim(4, [4, 1])
      queued.push(...rows(2, 2, 0))
      const claimed = yield* claim(3, [3, 0])
      assert.deepStrictEqual(claimed.map(({ account_id, lane }) => [account_id, lane]), [[2, 0], [2, 0]])
    }))

  it.effect.prop(
    "claims every row in the end, each once, whatever the backlog and the room",
    [
      Schema.Array(Schema.Struct({ account: Schema.Literals([1, 2, 3]), lane: Schema.Literals([0, 1]) })),
      Schema.Literals([1, 2, 5])
    ],
    ([entries, room]) =>
      Effect.gen(function*() {
        const all = entries.map(({ account, lane }, no) => ({ account_id: account, lane, no }))
        const { claim, inFlight, queued } = yield* makeTable(all)
        const claimed: Array<Row> = []
        // A claim may find none while the accounts are read.
        for (let n = 0; n < 2 * all.length + 2 && queued.length > 0; n++) {
          claimed.push(...yield* claim(room))
          inFlight.clear()
          yield* TestClock.adjust("1 second")
        }
        assert.deepStrictEqual(claimed.map(({ no }) => no).toSorted((a, b) => a - b), all.map(({ no }) => no))
      })
  )
})
