import { Context, Effect, Layer } from "effect"

/**
 * How far this node's shutdown is. While it drains, it answers requests and closes their connections, so that clients
 * leave without an error. Then it finishes the requests in flight and refuses others.
 */
export class Draining extends Context.Service<Draining, {
  readonly begin: Effect.Effect<void>
  readonly refuse: Effect.Effect<void>
  readonly phase: () => "open" | "draining" | "refusing"
}>()("messaging-service/platform/http/ready/Draining") {
  static readonly layer = Layer.sync(Draining, () => {
    let phase: "open" | "draining" | "refusing" = "open"
    const enter = (next: typeof phase) => Effect.sync(() => void (phase = next))
    return Draining.of({ begin: enter("draining"), refuse: enter("refusing"), phase: () => phase })
  })
}
