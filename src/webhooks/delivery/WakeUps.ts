import { Effect, Layer } from "effect"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { QueueRepo } from "./QueueRepo.ts"
import { type WakeUpReason, WebhookEntity } from "./WebhookEntity.ts"

/** A wake-up for the actor of a dead node waits until another node has its shard. The others go out meanwhile. */
const wakeTimeout = "1 second"

const make = Effect.gen(function*() {
  const actor = yield* WebhookEntity.client

  const send = (wakeUps: ReadonlyArray<{ readonly id: WebhookId; readonly reason: WakeUpReason }>) =>
    Effect.forEach(
      wakeUps,
      ({ id, reason }) =>
        Effect.ignoreCause(Effect.timeoutOption(actor(String(id)).Wake({ reason }, { discard: true }), wakeTimeout)),
      { concurrency: "unbounded", discard: true }
    )

  return {
    send,
    /** Wakes webhooks that have deliveries. */
    wake: (ids: ReadonlyArray<WebhookId>) => send(ids.map((id) => ({ id, reason: "work" }))),
    /** Announces a changed webhook, because its actor may have deliveries in flight. */
    announceChange: (id: WebhookId) => send([{ id, reason: "changed" }])
  }
})

/** Wakes the actors of webhooks on any node. A wake-up may get lost: the sweeper finds the work. */
export const WakeUps = { make }

/** Wakes webhooks whose work has stalled, after a lost wake-up or the death of a node. */
export const WebhookSweeper = Layer.unwrap(Effect.gen(function*() {
  const { send } = yield* WakeUps.make
  const { findStalled } = yield* QueueRepo
  return PeriodicTask.make("WebhookSweeper", "1 second", Effect.flatMap(Effect.suspend(findStalled), send))
})).pipe(Layer.provide(QueueRepo.layer))
