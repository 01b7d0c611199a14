import { Effect } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import { type WakeUpReason, WebhookEntity } from "./WebhookEntity.ts"

export interface Nudge {
  readonly id: WebhookId
  readonly reason: WakeUpReason
}

/** A nudge for the actor of a dead node waits until another one has its shard; the others are told meanwhile. */
const patience = "2 seconds"

/** Nudges to the actors of webhooks, wherever they run; nothing depends on one. */
export const makeNudges = Effect.gen(function*() {
  const actor = yield* WebhookEntity.client

  const nudge = (nudges: ReadonlyArray<Nudge>): Effect.Effect<void> =>
    Effect.forEach(
      nudges,
      ({ id, reason }) =>
        Effect.ignoreCause(Effect.timeoutOption(actor(String(id)).Wake({ reason }, { discard: true }), patience)),
      { concurrency: "unbounded", discard: true }
    )

  return {
    nudge,
    /** Deliveries are there for them. */
    wake: (ids: ReadonlyArray<WebhookId>) => nudge(ids.map((id) => ({ id, reason: "work" }))),
    /** The webhook is another than before: it has to know at once, as it has deliveries in its hands. */
    tell: (id: WebhookId) => nudge([{ id, reason: "changed" }])
  }
})
