import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Bucket, RateSlices } from "../../../src/platform/http/RateSlices.ts"

const minute = 60_000

/** The counters of a database, by minute. */
class Counters {
  readonly #used = new Map<number, number>()

  take(now: number, amount: number) {
    const startsAt = Math.floor(now / minute)
    const used = (this.#used.get(startsAt) ?? 0) + amount
    this.#used.set(startsAt, used)
    return { used, resetsAt: (startsAt + 1) * 60, millisLeft: (startsAt + 1) * minute - now }
  }

  release(resetsAt: number, amount: number) {
    const startsAt = resetsAt / 60 - 1
    this.#used.set(startsAt, (this.#used.get(startsAt) ?? 0) - amount)
  }

  used(now: number) {
    return this.#used.get(Math.floor(now / minute)) ?? 0
  }
}

/** Takes the next slice, if it is time for it. */
const renew = (slices: RateSlices, counters: Counters, bucket: Bucket, now: number) => {
  if (!slices.startsRenewal(bucket, now)) return
  const amount = slices.wanted(bucket, 0, now)
  if (amount > 0) slices.take({ bucket, waiting: 0, amount, taken: counters.take(now, amount), askedAt: now })
}

/** One request. True if it is admitted. */
const request = (slices: RateSlices, counters: Counters, bucket: Bucket, now: number) => {
  const [known] = slices.spend([bucket], now) ?? []
  renew(slices, counters, bucket, now)
  if (known !== undefined) return known.used <= bucket.limit
  const amount = slices.wanted(bucket, 1, now)
  const [usage] = slices.take({ bucket, waiting: 1, amount, taken: counters.take(now, amount), askedAt: now })
  return (usage?.used ?? Infinity) <= bucket.limit
}

const Step = Schema.Struct({
  node: Schema.Literals([0, 1, 2]),
  action: Schema.Literals(["request", "request", "request", "idle", "crash"]),
  millis: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 })),
  times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))
})

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4_000 }))

describe("the slices of several nodes", () => {
  it.prop(
    "never admit more than the limit in a minute, whatever the nodes take, release and lose in a crash",
    [Limit, Schema.Array(Step).check(Schema.isMaxLength(300))],
    ([limit, steps]) => {
      const bucket = { name: "key:1", limit }
      const counters = new Counters()
      const nodes = [new RateSlices(), new RateSlices(), new RateSlices()]
      const admitted = new Map<number, number>()
      let now = 0
      for (const { action, millis, node, times } of steps) {
        now += millis
        const slices = nodes[node] ?? new RateSlices()
        if (action === "crash") nodes[node] = new RateSlices()
        else if (action === "idle") {
          for (const { amount, resetsAt } of slices.idleRests(now)) counters.release(resetsAt, amount)
        } else {
          for (let sent = 0; sent < times; sent++) {
            if (!request(slices, counters, bucket, now)) continue
            const at = Math.floor(now / minute)
            admitted.set(at, (admitted.get(at) ?? 0) + 1)
          }
        }
        for (const count of admitted.values()) assert.isAtMost(count, limit)
      }
    }
  )

  it.prop("of one node admit exactly the limit", [Limit], ([limit]) => {
    const slices = new RateSlices()
    const counters = new Counters()
    const answers = Array.from(
      { length: 2 * limit },
      (_, index) => request(slices, counters, { name: "key:1", limit }, index)
    )
    assert.strictEqual(answers.filter((isAdmitted) => isAdmitted).length, limit)
  })

  it.prop("a crash loses at most an eighth of what was left", [Limit, Limit], ([limit, sent]) => {
    const slices = new RateSlices()
    const counters = new Counters()
    const bucket = { name: "key:1", limit }
    let admitted = 0
    for (let index = 0; index < sent; index++) if (request(slices, counters, bucket, index)) admitted++
    assert.isAtMost(Math.min(limit, counters.used(0)) - admitted, limit / 8)
  })
})

describe("a slice", () => {
  const bucket = { name: "key:1", limit: 1_000 }

  it("grows while it is used up quickly, so that many requests cost one statement", () => {
    const slices = new RateSlices()
    const counters = new Counters()
    let statements = 0
    for (let sent = 0; sent < 900; sent++) {
      if (slices.spend([bucket], sent) !== undefined) continue
      statements++
      const amount = slices.wanted(bucket, 1, sent)
      slices.take({ bucket, waiting: 1, amount, taken: counters.take(sent, amount), askedAt: sent })
    }
    assert.isAtMost(statements, 30)
  })

  it("is followed by the next one before it is used up, so that no request waits", () => {
    const slices = new RateSlices()
    const counters = new Counters()
    const large = { name: "key:1", limit: 100_000 }
    let waited = 0
    for (let sent = 0; sent < 20_000; sent++) {
      const now = sent / 10
      if (slices.spend([large], now) === undefined) {
        waited++
        assert.isTrue(request(slices, counters, large, now))
      }
      renew(slices, counters, large, now)
    }
    assert.isAtMost(waited, 7, "while the slice grows")
    assert.isAtLeast(counters.used(0), 20_000)
  })

  it("is released after a second without a request", () => {
    const slices = new RateSlices()
    const counters = new Counters()
    for (let sent = 0; sent < 10; sent++) request(slices, counters, bucket, sent)
    assert.isAbove(counters.used(0), 10)
    assert.deepStrictEqual(slices.idleRests(900), [])
    for (const { amount, resetsAt } of slices.idleRests(1_100)) counters.release(resetsAt, amount)
    assert.strictEqual(counters.used(0), 10)
  })

  it("ends with its minute", () => {
    const slices = new RateSlices()
    const counters = new Counters()
    for (let sent = 0; sent < 10; sent++) request(slices, counters, bucket, minute - 100 + sent)
    assert.isDefined(slices.spend([bucket], minute - 1))
    assert.isUndefined(slices.spend([bucket], minute))
    assert.deepStrictEqual(slices.allRests(minute), [])
  })

  it("is not asked for again within half a second when nothing is left, and then it is", () => {
    const slices = new RateSlices()
    const counters = new Counters()
    const one = { name: "key:1", limit: 1 }
    assert.isTrue(request(slices, counters, one, 0))
    assert.isFalse(request(slices, counters, one, 1))
    assert.strictEqual(counters.used(0), 1)
    assert.isUndefined(slices.spend([one], 501))
  })
})
