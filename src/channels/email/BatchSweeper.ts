import { Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { makeBatchesRepo } from "./BatchesRepo.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** One fiber in the cluster that starts batches whose `Run` was lost between the commit and the nudge. */
export const BatchSweeper = Singleton.make(
  "EmailBatchSweeper",
  Effect.gen(function*() {
    const bulk = yield* BulkEmail
    const repo = yield* makeBatchesRepo
    const sweep = Effect.gen(function*() {
      const neglected = yield* repo.neglected()
      yield* bulk.run(neglected.map(({ id }) => id))
    })
    yield* sweep.pipe(
      Effect.tapCause((cause) => Effect.logDebug("a sweep over email batches failed", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
)
