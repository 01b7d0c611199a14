import { Context, Effect, Layer, Ref } from "effect"

/** Whether this node has begun to leave: it answers what is in flight and takes nothing new. */
export class Draining extends Context.Service<Draining, {
  readonly begin: Effect.Effect<void>
  readonly begun: Effect.Effect<boolean>
}>()("messaging-service/platform/http/Draining") {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(Ref.make(false), (begun) => Draining.of({ begin: Ref.set(begun, true), begun: Ref.get(begun) }))
  )
}
