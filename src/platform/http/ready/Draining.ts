import { Context, Effect, Layer } from "effect"

/**
 * Whether this node shuts down. From then on each answer closes its connection, so that clients leave without an error. It
 * refuses no request: a proxy passes the refusal of a POST to its client.
 */
export class Draining extends Context.Service<Draining, {
  readonly begin: Effect.Effect<void>
  readonly hasBegun: () => boolean
}>()("messaging-service/platform/http/ready/Draining") {
  static readonly layer = Layer.sync(Draining, () => {
    let hasBegun = false
    return Draining.of({ begin: Effect.sync(() => void (hasBegun = true)), hasBegun: () => hasBegun })
  })
}
