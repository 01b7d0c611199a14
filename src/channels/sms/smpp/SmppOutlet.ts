import { Effect, Layer, Queue, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { SmsOutlet } from "../parts/SmsOutlet.ts"
import { SmppCarrier } from "./SmppCarrier.ts"
import { SmppLinkActor } from "./SmppLinkActor.ts"
import { bindName, SmppLinkEntity } from "./SmppLinkEntity.ts"

/** A wake for the actor of a dead node waits until another one has its shard. */
const patience = "2 seconds"

const makeWake = Effect.map(
  SmppLinkEntity.client,
  (actor) => Effect.ignoreCause(Effect.timeoutOption(actor(bindName).Wake(undefined, { discard: true }), patience))
)

/** Has the bind be somewhere: its actor is on the node of its shard as long as it is woken. */
const Waker = Singleton.make(
  "SmppLinkWaker",
  Effect.flatMap(makeWake, (wake) => Effect.asVoid(Effect.repeat(wake, Schedule.spaced("1 second"))))
)

const Outlet = Layer.effect(
  SmsOutlet,
  Effect.gen(function*() {
    const wake = yield* makeWake
    const asked = yield* Queue.sliding<void>(1)
    // Many commits in the time of one call are one wake.
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(asked), wake)))
    return SmsOutlet.of({ takes: "segments", wake: Effect.sync(() => void Queue.offerUnsafe(asked, undefined)) })
  })
)

/** The carrier of SMPP_URL. */
export const SmppOutlet = Layer.mergeAll(Outlet, Waker, SmppLinkActor).pipe(Layer.provide(SmppCarrier.layer))
