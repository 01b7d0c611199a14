import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { PartsRepo } from "./PartsRepo.ts"
import { SmsProvider } from "./SmsProvider.ts"
import { SmsSender } from "./SmsSender.ts"

/** Sends the accepted messages to the provider. */
export class SmsOutlet extends Context.Service<SmsOutlet, {
  /** Whether the service splits messages into segments, or the provider does. */
  readonly takes: "segments" | "texts"
  /** Makes the sender poll at once. A lost wake-up delays a message by a second. */
  readonly wake: Effect.Effect<void>
}>()("messaging-service/channels/sms/parts/SmsOutlet") {
  /** Every node sends for itself. */
  static readonly layerProvider = Layer.effect(
    SmsOutlet,
    Effect.gen(function*() {
      const { concurrency, name, submit, takes } = yield* SmsProvider
      const { paused } = yield* AppConfig
      if (paused) return SmsOutlet.of({ takes, wake: Effect.void })
      const { wake } = yield* SmsSender.start({ provider: name, concurrency, submit })
      return SmsOutlet.of({ takes, wake })
    })
  ).pipe(Layer.provide(PartsRepo.layer))
}
