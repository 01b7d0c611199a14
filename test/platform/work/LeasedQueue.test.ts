import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { Claims } from "../../../src/platform/work/Claims.ts"
import { LeasedQueue } from "../../../src/platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../src/platform/work/Wakeup.ts"
import type { Admission, Lease, WorkPolicy } from "../../../src/platform/work/WorkPolicy.ts"

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
  const leases = new Map<number, Lease>()
  const state = {
    isUnavailable: false,
    admission: { _tag: "Pass" } as Admission,
    orphaned: [] as Array<Row>,
    /** Rows that another node has reclaimed. */
    lost: new Set<number>()
  }
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
    lanes: { of: ({ isBulk }) => Number(isBulk), limits: [2, 2] },
    admission: Effect.sync(() => state.admission),
    claim: ({ lanes: [, bulkLimit = 0], limit }) =>
      statement(() => {
        seen.claims.push(limit)
        const single = take(limit, false)
        return [...single, ...take(Math.min(bulkLimit, limit - single.length), true)]
      }),
    perform: ({ id }, lease) =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        gates.set(id, gate)
        leases.set(id, lease)
        seen.begun.push(id)
        yield* Deferred.await(gate)
        return `done ${id}`
      }),
    settle: (_, outcome) => statement(() => void seen.settled.push(outcome)),
    release: (rows) => statement(() => void seen.released.push(...rows.map(({ id }) => id))),
    leaseTime: Duration.seconds(8),
    renewal: {
      renew: (rows) =>
        statement(() => {
          seen.renewed.push(rows.map(({ id }) => id))
          return rows.filter(({ id }) => !state.lost.has(id))
        }),
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
  return { queued, seen, state, policy, end, leases }
}

// Detached, as a test may end with items in flight, for which an interrupted worker waits.
const start = Effect.fnUntraced(function*<A, B>(policy: WorkPolicy<A, B>) {
  const claims = yield* Claims.make<A>()
  const wakeup = yield* Wakeup.make
  const worker = yield* Effect.forkDetach(LeasedQueue.run(policy, wakeup, claims), { startImmediately: true })
  yield* TestClock.adjust(1)
  const withdraw = (matches: (item: A) => boolean) => claims.withdraw(matches)
  return { wakeup, worker, withdraw }
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
      const lanes = { of: ({ isBulk }: Row) => Number(isBulk), limits: [4, 3] }
      const { wakeup } = yield* start({ ...policy, concurrency: 4, lanes })
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

  it.effect("claims again as soon as an account with all of its slots in use frees one", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(6)
      const rooms: Array<number> = []
      yield* start({
        ...policy,
        concurrency: 4,
        lanes: { of: () => 0, limits: [4] },
        accountLimit: { of: () => 7, limit: 2 },
        claim: (room) => {
          rooms.push(room.ofAccount(7))
          return policy.claim({ ...room, lanes: [], limit: Math.min(room.limit, room.ofAccount(7)) })
        }
      })
      assert.deepStrictEqual(seen.begun, [0, 1])
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1, 2])
      assert.deepStrictEqual(rooms, [2, 0, 1, 0])
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

  it.effect("reclaims nothing in the ten seconds after an outage, so that other nodes store what they have sent", () =>
    Effect.gen(function*() {
      const { policy, seen, state } = makeTable(0)
      // The relay is away as well, so the worker claims nothing.
      state.admission = { _tag: "Refused", retryInMillis: 60_000 }
      yield* start(policy)
      state.isUnavailable = true
      yield* TestClock.adjust("12 seconds")
      state.isUnavailable = false
      state.admission = { _tag: "Pass" }
      state.orphaned.push({ id: 5, isBulk: false })
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(state.orphaned, 1)
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual([state.orphaned.length, seen.begun], [0, [5]])
    }))

  it.effect("does not begin items whose lease expired between claim and begin", () =>
    Effect.gen(function*() {
      const { policy, seen } = makeTable(2)
      const claim: typeof policy.claim = (room) => Effect.delay(policy.claim(room), "9 seconds")
      yield* start({ ...policy, claim })
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(seen.begun, [])
      assert.deepStrictEqual(seen.released, [0, 1])
    }))

  it.effect("stops waiting items from beginning when they waited longer than their lease", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(4)
      yield* start({ ...policy, claimSize: 4 })
      yield* TestClock.adjust("9 seconds")
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1])
      assert.deepStrictEqual(seen.released, [2, 3])
    }))

  it.effect("begins no item whose lease expired while the wall clock was set back", () =>
    Effect.gen(function*() {
      const { end, policy, seen } = makeTable(3)
      yield* start({ ...policy, claimSize: 3 })
      yield* TestClock.adjust("9 seconds")
      yield* TestClock.setTime(0)
      yield* end(0)
      assert.deepStrictEqual(seen.begun, [0, 1])
      assert.deepStrictEqual(seen.released, [2])
    }))

  it.effect("lets an attempt hold its lease while renewals find the row unchanged, and not after another node reclaimed it", () =>
    Effect.gen(function*() {
      const { leases, policy, state } = makeTable(2)
      yield* start(policy)
      const isHeld = () => [leases.get(0)?.isHeld(), leases.get(1)?.isHeld()]
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(isHeld(), [true, true])
      state.lost.add(1)
      yield* TestClock.adjust("7 seconds")
      assert.deepStrictEqual(isHeld(), [true, true])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(isHeld(), [true, false])
      assert.isFalse(leases.get(1)?.begin())
    }))

  it.effect("lets leases expire while no renewal reaches the database", () =>
    Effect.gen(function*() {
      const { leases, policy, state } = makeTable(1)
      yield* start(policy)
      state.isUnavailable = true
      yield* TestClock.adjust("8 seconds")
      assert.isFalse(leases.get(0)?.isHeld())
      state.isUnavailable = false
      yield* TestClock.adjust("1 second")
      assert.isTrue(leases.get(0)?.isHeld())
    }))

  it.effect("releases an item whose attempt interrupts itself, stores nothing, and frees its slot", () =>
    Effect.gen(function*() {
      const { policy, seen } = makeTable(2)
      const perform: typeof policy.perform = (row, lease) =>
        row.id === 0 ? Effect.interrupt : policy.perform(row, lease)
      yield* start({ ...policy, concurrency: 1, perform })
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([seen.released, seen.settled, seen.begun], [[0], [], [1]])
    }))

  it.effect("withdraws what has not begun: in flight, waiting for a slot, or part of a claim in progress", () =>
    Effect.gen(function*() {
      const { end, leases, policy, queued, seen } = makeTable(5)
      const { wakeup, withdraw } = yield* start({ ...policy, claimSize: 4 })
      assert.deepStrictEqual(seen.begun, [0, 1])
      assert.isTrue(leases.get(0)?.begin())
      const ids = Effect.map(withdraw(({ id }) => id !== 3), (rows) => rows.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids, [1, 2])
      assert.deepStrictEqual([leases.get(0)?.isHeld(), leases.get(1)?.begin()], [true, false])
      yield* TestClock.adjust(1)
      // The slot of the withdrawn item is free.
      assert.deepStrictEqual(seen.begun, [0, 1, 3])
      yield* end(0, 3)
      yield* wakeup.signal
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([seen.begun, seen.settled, seen.released], [[0, 1, 3, 4], ["done 0", "done 3"], []])
      assert.deepStrictEqual(queued, [])
    }))

  it.effect("withdraws the rows of a claim statement that is still running", () =>
    Effect.gen(function*() {
      const { policy, seen } = makeTable(2)
      const claim: typeof policy.claim = (room) => Effect.delay(policy.claim(room), "2 seconds")
      const { withdraw } = yield* start({ ...policy, claim })
      const withdrawing = yield* Effect.forkChild(withdraw(() => true), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isUndefined(withdrawing.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const withdrawn = (yield* Fiber.join(withdrawing)).map(({ id }) => id)
      assert.deepStrictEqual([withdrawn, seen.released], [[0, 1], []])
      assert.isTrue([...seen.begun].every((id) => withdrawn.includes(id)))
      assert.deepStrictEqual(seen.settled, [])
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
