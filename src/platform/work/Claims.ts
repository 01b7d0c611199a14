import { Clock, Duration, Effect, Fiber, Semaphore } from "effect"
import { expiryIn, type HasExpired } from "../schedule/monotonic.ts"
import type { Lease } from "./WorkPolicy.ts"

/** A node reclaims single emails and SMS parts whose lease has not been renewed for this long. */
export const leaseTimeout = Duration.seconds(10)

/** Less than `leaseTimeout`, so that an old claim ends before another node can reclaim it. */
export const leaseTime = Duration.seconds(8)

/** One claimed item. */
export class Claim<Item> implements Lease {
  readonly item: Item
  /** The fiber of its attempt. */
  fiber: Fiber.Fiber<void> | undefined
  #hasExpired: HasExpired
  #hasBegun = false
  #isWithdrawn = false

  constructor(item: Item, hasExpired: HasExpired) {
    this.item = item
    this.#hasExpired = hasExpired
  }

  get isWithdrawn(): boolean {
    return this.#isWithdrawn
  }

  readonly isHeld = (): boolean => !this.#isWithdrawn && !this.#hasExpired()

  readonly begin = (): boolean => {
    this.#hasBegun ||= this.isHeld()
    return this.isHeld()
  }

  extend(hasExpired: HasExpired): void {
    this.#hasExpired = hasExpired
  }

  /** False when the item has begun: then nothing changes. */
  withdraw(): boolean {
    this.#isWithdrawn = !this.#hasBegun
    return this.#isWithdrawn
  }
}

/**
 * Those of a node's claims that these rows name. The name must tell claims of one item apart: a node that was frozen may
 * have claimed an item again that it had lost, and the lost claim must not be renewed with the later one.
 */
export const keptClaims = <Name, C extends Name>(
  claims: ReadonlyArray<C>,
  rows: ReadonlyArray<Name>,
  nameOf: (claim: Name) => string
): ReadonlyArray<C> => {
  const kept = new Set(rows.map(nameOf))
  return claims.filter((claim) => kept.has(nameOf(claim)))
}

/** The items that one worker has claimed, until each has ended or is released. */
export interface Claims<Item> {
  /** Runs a statement that claims items. Their leases start before it. */
  readonly claim: <E, R>(
    statement: Effect.Effect<ReadonlyArray<Item>, E, R>,
    leaseTime: Duration.Duration
  ) => Effect.Effect<ReadonlyArray<Claim<Item>>, E, R>
  /** Runs a statement that renews the leases of items and answers with those that are still this worker's. */
  readonly renew: <E, R>(
    statement: Effect.Effect<ReadonlyArray<Item>, E, R>,
    leaseTime: Duration.Duration
  ) => Effect.Effect<void, E, R>
  readonly end: (claim: Claim<Item>) => void
  /**
   * Takes back the claimed items that match and have not begun, also those of a claim in progress. None of them begins
   * afterwards, and the worker forgets them: the caller changes their rows.
   */
  readonly withdraw: (matches: (item: Item) => boolean) => Effect.Effect<ReadonlyArray<Item>>
}

const make = Effect.fnUntraced(function*<Item>(): Effect.fn.Return<Claims<Item>> {
  const clock = yield* Clock.Clock
  const claiming = yield* Semaphore.make(1)
  const claims = new Map<Item, Claim<Item>>()

  return {
    claim: (statement, leaseTime) =>
      claiming.withPermit(Effect.suspend(() => {
        const hasExpired = expiryIn(clock, leaseTime)
        return Effect.map(statement, (items) =>
          items.map((item) => {
            const claim = new Claim(item, hasExpired)
            claims.set(item, claim)
            return claim
          }))
      })),
    renew: (statement, leaseTime) =>
      Effect.suspend(() => {
        const hasExpired = expiryIn(clock, leaseTime)
        return Effect.map(statement, (items) => {
          for (const item of items) claims.get(item)?.extend(hasExpired)
        })
      }),
    end: ({ item }) => {
      claims.delete(item)
    },
    withdraw: (matches) =>
      claiming.withPermit(Effect.suspend(() => {
        const withdrawn = [...claims.values()].filter((claim) => matches(claim.item) && claim.withdraw())
        for (const { item } of withdrawn) claims.delete(item)
        const fibers = withdrawn.flatMap(({ fiber }) => fiber ?? [])
        return Effect.as(Fiber.interruptAll(fibers), withdrawn.map(({ item }) => item))
      }))
  }
})

export const Claims = { make }
