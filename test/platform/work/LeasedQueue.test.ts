import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { LeasedQueue } from "../../../src/platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../src/platform/work/Wakeup.ts"
import type { Admission, WorkPolicy } from "../../../src/platform/work/WorkPolicy.ts"

const unavailable = SqlError.SqlError.make({
  reason: SqlError.ConnectionError.make({ cause: undefined, message: "gone", operation: "query" })
})

interface Row {
  readonly id: number
  readonly isBulk: boolean
}

/** A table in memory, with work that lasts until the test lets it end. */
const makeTable = (count: number, bulk: (id: number) => boolean = () => false) => {
  const queued: Array<Row> = Array.from({ length: count }, (_, id) => ({ id, isBulk: bulk(id) }))
  const seen = {
    claims: [] as Array<number>,
    begun: [] as Array<number>,
    settled: [] as Array<string>,
    released: [] as Array<number>,
    renewed: [] as Array<ReadonlyArray<number>>
  }
  const gates = new Map<number, Deferred.Deferred<void>>()
  const state = { isUnavailable: false, admission: { _tag: "Pass" } as Admission, orphaned: [] as Array<Row> }
  const statement = <A>(run: () => A) =>
    Effect.suspend(() => state.isUnavailable ? Effect.die(unavailable) : Effect.sync(run))
  const take = (limit: number, lane: boolean) => {
    const taken = queued.filter(({ isBulk }) => isBulk === lane).slice(0, Math.max(0, limit))
    for (const row of taken) queued.splice(queued.indexOf(row), 1)
    return taken
  }
  const policy: WorkPolicy<Row, string> = {
    name: "rows",
    concurrency: 2,
    admission: Effect.sync(() => state.admission),
    claim: ({ bulkLimit, limit }) =>
      statement(() => {
        seen.claims.push(limit)
        const single = take(limit, false)
        return [...single, ...take(Math.min(bulkLimit, limit - single.length), true)]
      }),
    perform: ({ id }) =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        gates.set(id, gate)
        seen.begun.push(id)
        yield* Deferred.await(gate)
        return `done ${id}`
      }),
    settle: (_, outcome) => statement(() => void seen.settled.push(outcome)),
    release: (rows) => statement(() => void seen.released.push(...rows.map(({ id }) => id))),
    lease: {
      renew: (rows) => statement(() => void seen.renewed.push(rows.map(({ id }) => id))),
      reclaim: statement(() => {
        const found = state.orphaned.splice(0)
        queued.push(...found)
        return found.length
      })
    },
    annotations: ({ id }) => ({ id })
  }
  const end = (...ids: ReadonlyArray<number>) =>
    Effect.andThen(
      Effect.forEach(ids, (id) => Effect.suspend(() => Deferred.succeed(gates.get(id) ?? assert.fail(), undefined))),
      TestClock.adjust(1)
    )
  return { queued, seen, state, policy, end }
}

// Detached, as a test may end with items in flight, for which an interrupted worker waits.
const start = Effect.fnUntraced(function*<A, B>(policy: WorkPolicy<A, B>) {
  const wakeup = yield* Wakeup.make
  const worker = yield* Effect.forkDetach(LeasedQueue.run(policy, wakeup), { startImmediately: true })
  yield* TestClock.adjust(1)
  return { wakeup, worker }
})

describe("LeasedQueue", () => {
  it.effect("claims as much as there is room for, and more when an item ends", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(4)
      yield* start(policy)
      assert.deepStrictEqual(seen.begun, [0, 1])
      yield* end(1)
      assert.deepStrictEqual(seen.begun, [0, 1, 2])
      assert.deepStrictEqual(seen.settled, ["done 1"])
      yield* end(0, 2)
      assert.deepStrictEqual(seen.begun, [0, 1, 2, 3])
    }))

  it.effect("polls each second, and at once when it is woken", () =>
    Effect.gen(function*() {
      const { policy, queued, seen } = makeTable(0)
      const { wakeup } = yield* start(policy)
      queued.push({ id: 7, isBulk: false })
      yield* TestClock.adjust("900 millis")
      assert.deepStrictEqual(seen.begun, [])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(seen.begun, [7])
      queued.push({ id: 8, isBulk: false })
      yield* wakeup.signal
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(seen.begun, [7, 8])
    }))

  it.effect("polls no more often than items come while it has room to spare", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(1)
      yield* start({ ...policy, concurrency: 10 })
      assert.strictEqual(seen.claims.length, 2)
      yield* end(0)
      assert.strictEqual(seen.claims.length, 2)
    }))

  it.effect("waits for enough room after a full queue before it claims again", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(20)
      yield* start({ ...policy, concurrency: 8, minRoom: 2 })
      assert.deepStrictEqual(seen.claims, [8])
      yield* end(0)
      assert.deepStrictEqual(seen.claims, [8])
      yield* end(1)
      assert.deepStrictEqual(seen.claims, [8, 2])
    }))

  it.effect("keeps room for single items while the bulk lane is full", () =>
    Effect.gen(function*() {
      const { end, policy, queued, seen } = makeTable(10, () => true)
      const bulkLane = { concurrency: 3, includes: ({ isBulk }: Row) => isBulk }
      const { wakeup } = yield* start({ ...policy, concurrency: 4, bulkLane })
      assert.deepStrictEqual(seen.begun, [0, 1, 2])
      queued.push({ id: 20, isBulk: false }, { id: 21, isBulk: false })
      yield* wakeup.signal
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(seen.begun, [0, 1, 2, 20])
      yield* end(20)
      assert.deepStrictEqual(seen.begun, [0, 1, 2, 20, 21])
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1, 2, 20, 21, 3])
    }))

  it.effect("claims ahead of the concurrency limit, and releases what refused admission leaves", () =>
    Effect.gen(function*() {
      const { end, policy, seen, state } = makeTable(6)
      yield* start({ ...policy, claimSize: 5 })
      assert.deepStrictEqual(seen.claims, [5])
      assert.deepStrictEqual(seen.begun, [0, 1])
      state.admission = { _tag: "Refused", retryInMillis: 5_000 }
      yield* end(0)
      assert.deepStrictEqual(seen.released, [2, 3, 4])
      assert.deepStrictEqual(seen.begun, [0, 1])
    }))

  it.effect("renews the leases of items in flight each second", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(1)
      yield* start(policy)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(seen.renewed, [[0], [0], [0]])
      yield* end(0)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(seen.renewed.length, 3)
    }))

  it.effect("works on reclaimed rows at once", () =>
    Effect.gen(function*() {
      const { policy, seen, state } = makeTable(0)
      yield* start(policy)
      state.orphaned.push({ id: 5, isBulk: false })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen.begun, [5])
    }))

  it.effect("does not begin items whose lease expired between claim and begin", () =>
    Effect.gen(function*() {
      const { policy, seen } = makeTable(2)
      const claim: typeof policy.claim = (room) => Effect.delay(policy.claim(room), "9 seconds")
      yield* start({ ...policy, claim, beginWithin: Duration.seconds(8) })
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(seen.begun, [])
      assert.deepStrictEqual(seen.released, [0, 1])
    }))

  it.effect("stops waiting items from beginning when they waited longer than their lease", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(4)
      yield* start({ ...policy, claimSize: 4, beginWithin: Duration.seconds(8) })
      yield* TestClock.adjust("9 seconds")
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1])
      assert.deepStrictEqual(seen.released, [2, 3])
    }))

  it.effect("lets one item probe, and polls nothing else until it is answered", () =>
    Effect.gen(function*() {
      const { policy, seen, state } = makeTable(3)
      state.admission = { _tag: "Probe" }
      yield* start(policy)
      assert.deepStrictEqual(seen.begun, [0])
      state.admission = { _tag: "Refused", retryInMillis: 60_000 }
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(seen.claims, [1])
      state.admission = { _tag: "Pass" }
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen.begun, [0, 1])
    }))

  it.effect("waits for an unavailable database, and stores each outcome once it is back", () =>
    Effect.gen(function*() {
      const { end, policy, queued, seen, state } = makeTable(1)
      yield* start(policy)
      state.isUnavailable = true
      yield* end(0)
      queued.push({ id: 1, isBulk: false })
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual([seen.settled, seen.begun, queued.length], [[], [0], 1])
      state.isUnavailable = false
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual([seen.settled, seen.begun], [["done 0"], [0, 1]])
    }))

  it.effect("frees the slot of an item whose outcome cannot be stored", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(2)
      yield* start({ ...policy, concurrency: 1, settle: () => Effect.die("a broken statement") })
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1])
    }))

  it.effect("asks its policy for the next poll when nothing is due and after each item, and ends when there is none", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(1)
      const asked: Array<number> = []
      const { worker } = yield* start({
        ...policy,
        nextPoll: (_, inFlight) =>
          Effect.sync(() => {
            asked.push(inFlight.size)
            return inFlight.size === 0 ? undefined : 60_000
          })
      })
      assert.deepStrictEqual(asked, [1])
      yield* end(0)
      assert.deepStrictEqual(asked, [1, 0])
      assert.deepStrictEqual(seen.settled, ["done 0"])
      assert.strictEqual((yield* Fiber.await(worker))._tag, "Success")
    }))

  it.effect("finishes what is in flight, renews its leases until then, and releases the rest when it stops", () =>
    Effect.gen(function*() {
      const { end, policy, queued, seen } = makeTable(4)
      const { worker } = yield* start({ ...policy, claimSize: 3 })
      const stopping = yield* Effect.forkChild(Fiber.interrupt(worker), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(seen.released, [2])
      assert.deepStrictEqual(seen.renewed, [[0, 1], [0, 1], [0, 1]])
      assert.isUndefined(stopping.pollUnsafe())
      yield* end(0, 1)
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(seen.settled, ["done 0", "done 1"])
      assert.deepStrictEqual([seen.begun, queued.length], [[0, 1], 1])
    }))

  it.effect("stops after the drain timeout with items still in flight", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(1)
      const { worker } = yield* start({ ...policy, drainTimeout: Duration.seconds(8) })
      const stopping = yield* Effect.forkChild(Fiber.interrupt(worker), { startImmediately: true })
      yield* TestClock.adjust("8 seconds")
      yield* Fiber.join(stopping)
      yield* end(0)
      assert.deepStrictEqual(seen.settled, ["done 0"])
    }))
})
