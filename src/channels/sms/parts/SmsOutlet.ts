import { Context, Effect, Layer } from "effect"
import { SmsProvider } from "./SmsProvider.ts"
import { makePump } from "./SmsSender.ts"

/** Where accepted messages leave the service. */
export class SmsOutlet extends Context.Service<SmsOutlet, {
  /** Whether messages are cut into segments here, or handed over whole. */
  readonly takes: "segments" | "texts"
  /** Says that something may be due; a wake that gets lost costs a second. */
  readonly wake: Effect.Effect<void>
}>()("messaging-service/channels/sms/parts/SmsOutlet") {
  /** Every node hands over for itself. */
  static readonly layerProvider = Layer.effect(
    SmsOutlet,
    Effect.gen(function*() {
      const { concurrency, name, submit, takes } = yield* SmsProvider
      const { wake } = yield* makePump({ provider: name, width: concurrency, submit })
      return SmsOutlet.of({ takes, wake })
    })
  )
}
