import { Context, Effect, Layer, Semaphore } from "effect"

/** Deliveries of all webhooks of a node in memory. */
const capacity = 10_000

/** Statements of all actors of a node at once; the queue's pool keeps its other connections for what has been done. */
const statements = 2

/** What the actors of a node share: room in memory, and turns at the queue. A thousand may wake up at once. */
export class DeliveryBudget extends Context.Service<DeliveryBudget, {
  /** Whether so many deliveries more may come into memory. */
  readonly hasRoomFor: (count: number) => boolean
  /** Counts deliveries in, or out. */
  readonly count: (change: number) => void
  /** Keeps room for deliveries that are being asked for, as others ask at the same time. */
  readonly expecting: <A, E, R>(deliveries: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a statement on the queue when it is its turn. */
  readonly inTurn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("messaging-service/webhooks/delivery/DeliveryBudget") {
  static readonly layer = Layer.effect(
    DeliveryBudget,
    Effect.map(Semaphore.make(statements), (turns) => {
      let inMemory = 0
      const count = (change: number) => {
        inMemory += change
      }
      return DeliveryBudget.of({
        hasRoomFor: (count) => inMemory + count <= capacity,
        count,
        expecting: (deliveries, effect) =>
          Effect.acquireUseRelease(
            Effect.sync(() => count(deliveries)),
            () => effect,
            () => Effect.sync(() => count(-deliveries))
          ),
        inTurn: turns.withPermits(1)
      })
    })
  )
}
