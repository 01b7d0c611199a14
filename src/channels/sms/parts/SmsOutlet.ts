import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import type { MessageBatchId } from "../../../values/Ids.ts"
import { PartsRepo } from "./PartsRepo.ts"
import { PartStatusUpdates } from "./PartStatusUpdates.ts"
import { SmsProvider } from "./SmsProvider.ts"
import { SmsSender } from "./SmsSender.ts"

/** Sends the accepted messages to the provider. */
export class SmsOutlet extends Context.Service<SmsOutlet, {
  /** Whether the service splits messages into segments, or the provider does. */
  readonly takes: "segments" | "texts"
  /** Makes the sender poll at once. A lost wake-up delays a message by a second. */
  readonly wake: Effect.Effect<void>
  /** Cancels those messages of a batch whose submit has not begun. */
  readonly cancel: (batchId: MessageBatchId) => Effect.Effect<void>
}>()("messaging-service/channels/sms/parts/SmsOutlet") {
  /**
   * Every node sends for itself, and claims no more than it begins. So a cancel withdraws only claims of the node that it
   * reaches: those of another node begin at once.
   */
  static readonly layerProvider = Layer.effect(
    SmsOutlet,
    Effect.gen(function*() {
      const { concurrency, name, submit, takes } = yield* SmsProvider
      const { paused } = yield* AppConfig
      if (paused) {
        const updates = yield* PartStatusUpdates
        return SmsOutlet.of({ takes, wake: Effect.void, cancel: (batchId) => updates.cancel(batchId, Effect.void) })
      }
      const { cancel, wake } = yield* SmsSender.start({ provider: name, concurrency, submit })
      return SmsOutlet.of({ takes, wake, cancel })
    })
  ).pipe(Layer.provide(PartsRepo.layer))
}
