import { Effect, Layer, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { BatchesRepo } from "./BatchesRepo.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** One fiber in the cluster that starts batches whose nudge was lost after the commit, and wakes those that stand still. */
export const BatchSweeper = Singleton.make(
  "EmailBatchSweeper",
  Effect.gen(function*() {
    const bulk = yield* BulkEmail
    const repo = yield* BatchesRepo
    const sweep = Effect.gen(function*() {
      const stalled = yield* repo.findStalled()
      yield* bulk.run(stalled.filter((batch) => !batch.has_begun).map(({ id }) => id))
      yield* bulk.wake(stalled.filter((batch) => batch.has_begun).map(({ id }) => id))
    })
    yield* sweep.pipe(
      Effect.tapCause((cause) => Effect.logDebug("a sweep over email batches failed", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
).pipe(Layer.provide(BatchesRepo.layer))
