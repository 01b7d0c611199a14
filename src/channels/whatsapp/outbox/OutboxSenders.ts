import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { makeOutboxRepo } from "./OutboxRepo.ts"

/** Told whether files may be among what there is to send: texts alone need not be asked for them. */
type Call = (hasFiles: boolean) => void

/** The sessions whose messages this node sends at the moment. */
export class OutboxSenders extends Context.Service<OutboxSenders, {
  /** Calls the sender of this session when there may be something to send, until the scope ends. */
  readonly enter: (id: WhatsAppSessionId, call: Call) => Effect.Effect<void, never, Scope.Scope>
  /** Says that there may be something to send; false when another node sends for this session. */
  readonly wake: (id: WhatsAppSessionId, hasFiles: boolean) => boolean
}>()("messaging-service/channels/whatsapp/outbox/OutboxSenders") {
  static readonly layer = Layer.effect(
    OutboxSenders,
    Effect.gen(function*() {
      const repo = yield* makeOutboxRepo
      const senders = new Map<WhatsAppSessionId, Call>()

      const wake = (id: WhatsAppSessionId, hasFiles: boolean) => {
        const call = senders.get(id)
        call?.(hasFiles)
        return call !== undefined
      }

      /** A wake that was lost costs a second, whatever node it was for. One question for all sessions of the node. */
      const look = Effect.gen(function*() {
        if (senders.size === 0) return
        for (const { id } of yield* repo.waiting([...senders.keys()])) wake(id, true)
      }).pipe(
        Effect.tapCause((cause) => Effect.logDebug("a look for WhatsApp messages failed", cause)),
        Effect.ignoreCause
      )
      yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced("1 second")))

      return OutboxSenders.of({
        enter: (id, call) =>
          Effect.asVoid(Effect.acquireRelease(
            Effect.sync(() => senders.set(id, call)),
            () =>
              Effect.sync(() => {
                if (senders.get(id) === call) senders.delete(id)
              })
          )),
        wake
      })
    })
  )
}
