import { Effect, Exit, Layer, Option } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../parts/SmsOutlet.ts"
import { SmppCarrier } from "./SmppCarrier.ts"
import { SmppLinkActor } from "./SmppLinkActor.ts"
import { bindName, SmppLinkEntity } from "./SmppLinkEntity.ts"

/** A call to the actor of a dead node waits until another node has its shard. */
const wakeTimeout = "1 second"

/** A page waits for it. */
const stateTimeout = "1 second"

/** Longer: without the actor's answer, parts that it has claimed are still submitted. */
const cancelTimeout = "5 seconds"

const Outlet = Layer.unwrap(Effect.map(SmppLinkEntity.client, (actor) => {
  const wakeActor = Effect.ignoreCause(
    Effect.timeoutOption(actor(bindName).Wake(undefined, { discard: true }), wakeTimeout)
  )
  const make = Effect.gen(function*() {
    const updates = yield* PartStatusUpdates
    const wakeup = yield* Wakeup.make
    // Commits during one call share the next one.
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(wakeup.wait(), wakeActor)))
    return SmsOutlet.of({
      takes: "segments",
      wake: wakeup.signal,
      cancel: Effect.fn("SmppOutlet.cancel")(function*(batchId) {
        const byActor = yield* Effect.exit(Effect.timeout(actor(bindName).Cancel({ batchId }), cancelTimeout))
        // The actor's node is dead or frozen: the claims that it had will be orphaned.
        if (Exit.isFailure(byActor)) yield* updates.cancel(batchId, Effect.void)
      }),
      cancelOne: Effect.fn("SmppOutlet.cancelOne")(function*(id) {
        const byActor = yield* Effect.exit(Effect.timeout(actor(bindName).CancelOne({ id }), cancelTimeout))
        return Exit.isSuccess(byActor) ? byActor.value : yield* updates.cancelOne(id, Effect.void)
      }),
      // A node of an earlier version does not know the request.
      link: Effect.map(
        Effect.exit(Effect.timeout(actor(bindName).State(), stateTimeout)),
        (state) => Exit.isSuccess(state) ? Option.some(state.value) : Option.none()
      )
    })
  })
  // The periodic wake-up keeps the bind running: it starts the actor on the node of its shard.
  return Layer.merge(Layer.effect(SmsOutlet, make), PeriodicTask.make("SmppLinkWaker", "1 second", wakeActor))
}))

/** The carrier of SMPP_URL. */
export const SmppOutlet = Layer.merge(Outlet, SmppLinkActor).pipe(Layer.provide(SmppCarrier.layer))
