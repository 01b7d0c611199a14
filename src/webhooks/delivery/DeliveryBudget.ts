import { Context, Effect, Layer, Semaphore } from "effect"

/** The most deliveries of all webhooks in one node's memory. */
const capacity = 10_000

/** The most statements of all actors of a node at once. The queue's pool keeps its other connections for outcomes. */
const statements = 2

/** Limits that all actors of a node share: room in memory, and statements on the queue. A thousand may wake at once. */
export class DeliveryBudget extends Context.Service<DeliveryBudget, {
  /** Whether this many more deliveries may come into memory. */
  readonly hasRoomFor: (count: number) => boolean
  /** Counts deliveries that come into memory, or leave it. */
  readonly count: (change: number) => void
  /** Reserves room for deliveries while they are being claimed, because other actors claim at the same time. */
  readonly reserve: <A, E, R>(deliveries: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a statement on the queue when a permit is free. */
  readonly withQueryPermit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("messaging-service/webhooks/delivery/DeliveryBudget") {
  static readonly layer = Layer.effect(
    DeliveryBudget,
    Effect.map(Semaphore.make(statements), (permits) => {
      let inMemory = 0
      const count = (change: number) => {
        inMemory += change
      }
      return DeliveryBudget.of({
        hasRoomFor: (count) => inMemory + count <= capacity,
        count,
        reserve: (deliveries, effect) =>
          Effect.acquireUseRelease(
            Effect.sync(() => count(deliveries)),
            () => effect,
            () => Effect.sync(() => count(-deliveries))
          ),
        withQueryPermit: permits.withPermits(1)
      })
    })
  )
}
