import { Context, Effect, Layer, type Scope } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { OutboxRepo } from "./OutboxRepo.ts"

/** Wakes a sender. Texts alone need no search for files. */
type WakeSender = (hasFiles: boolean) => void

/** The sessions whose messages this node sends. */
export class OutboxSenders extends Context.Service<OutboxSenders, {
  /** Registers the sender of a session until the scope closes. */
  readonly register: (id: WhatsAppSessionId, wake: WakeSender) => Effect.Effect<void, never, Scope.Scope>
  /** Wakes the sender of a session. False when another node sends for it. */
  readonly wake: (id: WhatsAppSessionId, hasFiles: boolean) => boolean
}>()("messaging-service/channels/whatsapp/outbox/OutboxSenders") {
  static readonly layer = Layer.effect(
    OutboxSenders,
    Effect.gen(function*() {
      const repo = yield* OutboxRepo
      const senders = new Map<WhatsAppSessionId, WakeSender>()

      const wake = (id: WhatsAppSessionId, hasFiles: boolean) => {
        const sender = senders.get(id)
        sender?.(hasFiles)
        return sender !== undefined
      }

      /** One statement for all sessions of the node. A lost wake-up delays a message by a second. */
      const poll = Effect.gen(function*() {
        if (senders.size === 0) return
        for (const { id } of yield* repo.withDueMessages([...senders.keys()])) wake(id, true)
      })
      yield* Effect.forkScoped(PeriodicTask.repeat("WhatsAppOutboxPoll", "1 second", poll))

      return OutboxSenders.of({
        register: (id, sender) =>
          Effect.asVoid(Effect.acquireRelease(
            Effect.sync(() => senders.set(id, sender)),
            () =>
              Effect.sync(() => {
                if (senders.get(id) === sender) senders.delete(id)
              })
          )),
        wake
      })
    })
  ).pipe(Layer.provide(OutboxRepo.layer))
}
