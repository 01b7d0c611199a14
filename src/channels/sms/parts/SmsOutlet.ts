import { Context, Effect, Layer, type Option } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { TestWork } from "../../../platform/work/TestWork.ts"
import type { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { PartsRepo } from "./PartsRepo.ts"
import { PartStatusUpdates } from "./PartStatusUpdates.ts"
import type { SmsLink } from "./SmsLink.ts"
import { SmsProvider, TestSmsProvider } from "./SmsProvider.ts"
import { SmsSender } from "./SmsSender.ts"

/** Sends the accepted messages to the provider. */
export class SmsOutlet extends Context.Service<SmsOutlet, {
  /** Whether the service splits messages into segments, or the provider does. */
  readonly takes: "segments" | "texts"
  /** Makes the sender poll at once. A lost wake-up delays a message by a second. */
  readonly wake: Effect.Effect<void>
  /** Cancels those messages of a batch whose submit has not begun. */
  readonly cancel: (batchId: MessageBatchId) => Effect.Effect<void>
  /** Cancels a message if the submit of none of its parts has begun. False if it is too late. */
  readonly cancelOne: (id: MessageId) => Effect.Effect<boolean>
  /** The link to the carrier. None if its node does not answer, and for providers that get requests. */
  readonly link: Effect.Effect<Option.Option<SmsLink>>
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
        return SmsOutlet.of({
          takes,
          wake: Effect.void,
          cancel: (batchId) => updates.cancel(batchId, Effect.void),
          cancelOne: (id) => updates.cancelOne(id, Effect.void),
          link: Effect.succeedNone
        })
      }
      return SmsOutlet.of({
        takes,
        link: Effect.succeedNone,
        ...yield* SmsSender.start({ mode: "live", provider: name, concurrency, submit })
      })
    })
  ).pipe(Layer.provide(PartsRepo.layer))

  /** Adds a sender of test messages to the sandbox. It starts when there can be test messages. */
  static readonly withTests = <E, R>(live: Layer.Layer<SmsOutlet, E, R>) =>
    Layer.effect(
      SmsOutlet,
      Effect.gen(function*() {
        const outlet = yield* SmsOutlet
        const { paused } = yield* AppConfig
        const { begins } = yield* TestWork
        const { concurrency, name: provider, submit } = yield* TestSmsProvider
        if (paused) return outlet
        let sender: Effect.Success<ReturnType<typeof SmsSender.start>> | undefined
        const start = Effect.map(SmsSender.start({ mode: "test", provider, concurrency, submit }), (started) => {
          sender = started
        })
        yield* Effect.forkScoped(Effect.andThen(begins, start))
        return SmsOutlet.of({
          takes: outlet.takes,
          link: outlet.link,
          wake: Effect.suspend(() => Effect.andThen(outlet.wake, sender?.wake ?? Effect.void)),
          cancel: (batchId) =>
            Effect.suspend(() => Effect.andThen(outlet.cancel(batchId), sender?.cancel(batchId) ?? Effect.void)),
          cancelOne: (id) =>
            Effect.filterOrElse(
              outlet.cancelOne(id),
              (isCanceled) => isCanceled,
              () => sender?.cancelOne(id) ?? Effect.succeed(false)
            )
        })
      })
    ).pipe(Layer.provide([live, PartsRepo.layer]))
}
