import { Context, Effect, Layer, Ref } from "effect"

/** Whether this node is shutting down: it finishes requests in flight and accepts no new ones. */
export class Draining extends Context.Service<Draining, {
  readonly begin: Effect.Effect<void>
  readonly begun: Effect.Effect<boolean>
}>()("messaging-service/platform/http/Draining") {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(Ref.make(false), (begun) => Draining.of({ begin: Ref.set(begun, true), begun: Ref.get(begun) }))
  )
}
