import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { EmailBatchId } from "../../../values/Ids.ts"
import { makeBatchesRepo } from "./BatchesRepo.ts"

/** The end of a batch. */
export class BatchCompletion extends Context.Service<BatchCompletion, {
  /**
   * Ends the batch when nobody is left, and tells of it exactly once: the row can be ended only once, and
   * email.bulk_completed is written in the same transaction. In a canceled batch nobody is left in the queue.
   */
  readonly complete: (batchId: EmailBatchId) => Effect.Effect<void>
}>()("messaging-service/channels/email/bulk/BatchCompletion") {
  static readonly layer = Layer.effect(
    BatchCompletion,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const repo = yield* makeBatchesRepo
      const complete = Effect.fn("BatchCompletion.complete")(
        (batchId: EmailBatchId) =>
          transaction(Effect.gen(function*() {
            yield* Effect.orDie(repo.leaveOut(batchId))
            const ended = yield* Effect.orDie(repo.complete(batchId))
            if (Option.isNone(ended)) return
            const { account_id, ...counts } = ended.value
            const data = { batch_id: batchId, ...counts }
            yield* events.publish([domainEvent({ accountId: account_id, event: "email.bulk_completed", data })])
          })),
        Effect.provideService(SqlClient.SqlClient, sql)
      )
      return BatchCompletion.of({ complete })
    })
  )
}
