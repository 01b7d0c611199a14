import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MessageOver } from "../../../messages/MessageOver.ts"
import { timeOf } from "../../../messages/sendFields.ts"
import * as Query from "../../../platform/database/Query.ts"
import type { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import type { Batch } from "./Batch.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** Gives scheduled batches another time. */
export class BatchTimes extends Context.Service<BatchTimes, {
  readonly reschedule: (
    accountId: AccountId,
    id: EmailBatchId,
    at: string
  ) => Effect.Effect<Batch, NotFound | MessageOver | ValidationFailed>
}>()("messaging-service/channels/email/bulk/BatchTimes") {
  static readonly layer = Layer.effect(
    BatchTimes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const bulk = yield* BulkEmail

      /** The batch first, as the release locks it. */
      const moved = Query.findOneOption({
        Request: Schema.Struct({ accountId: AccountId, id: EmailBatchId, at: Timestamp }),
        Result: Schema.Struct({ id: EmailBatchId }),
        execute: ({ accountId, at, id }) =>
          sql`with batch as (
              update email_batches set send_at = ${at}::timestamptz,
                reschedules = with_reschedule(reschedules, send_at, ${at}::timestamptz)
              where id = ${id} and account_id = ${accountId} and status = 'scheduled' returning id
            ), recipients as (
              update email_messages m set send_at = ${at}::timestamptz from batch
              where m.batch_id = batch.id and m.account_id = ${accountId} and m.status = 'scheduled'
            )
            select id from batch`
      })

      return BatchTimes.of({
        reschedule: Effect.fn("BatchTimes.reschedule")(function*(accountId, id, text) {
          yield* bulk.find(accountId, id)
          const found = yield* moved({ accountId, id, at: yield* timeOf(text) })
          const batch = yield* bulk.find(accountId, id)
          return Option.isSome(found) ? batch : yield* new MessageOver({ status: batch.status })
        })
      })
    })
  )
}
