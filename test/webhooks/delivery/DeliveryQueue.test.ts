import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, FiberSet, Layer } from "effect"
import { WebhookId } from "../../../src/values/Ids.ts"
import { DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import * as DeliveryQueue from "../../../src/webhooks/delivery/DeliveryQueue.ts"
import { DeliveryBudget, InFlightDeliveries } from "../../../src/webhooks/delivery/InFlightDeliveries.ts"
import { QueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { RecoveryRepo } from "../../../src/webhooks/recovery/RecoveryRepo.ts"

const webhookId = WebhookId.make(1)

describe("DeliveryQueue", () => {
  it.effect("keeps a retry that becomes due while it reads when the next one is due", () =>
    Effect.gen(function*() {
      const reading = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const claimed: Array<number> = []
      const repo = Layer.mock(QueueRepo)({
        release: () => Effect.void,
        claim: ({ retries }) => Effect.as(Effect.sync(() => claimed.push(retries)), []),
        nextDue: () =>
          Deferred.succeed(reading, undefined).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.as({ millis: null })
          )
      })
      const inFlight = new InFlightDeliveries({
        webhookId,
        onChange: () => {},
        attempts: { attempt: () => Effect.die("not called"), endpointOf: () => Effect.die("not called") },
        outcomes: DeliveryOutcomes.of({ record: () => {} }),
        budget: yield* DeliveryBudget,
        clock: yield* Clock.Clock,
        run: yield* FiberSet.makeRuntime<never, void, never>()
      })
      const queue = yield* DeliveryQueue.make(webhookId, inFlight).pipe(
        Effect.provide([repo, Layer.mock(RecoveryRepo)({})])
      )
      const round = yield* Effect.forkChild(queue.claimDue)
      yield* Deferred.await(reading)
      queue.expectRetry()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(round)
      assert.strictEqual(queue.nextRetry(), 0)
      yield* queue.claimDue
      assert.deepStrictEqual([claimed, queue.nextRetry()], [[100, 100], undefined])
    }).pipe(Effect.provide(DeliveryBudget.layer)))
})
