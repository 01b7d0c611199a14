import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ScheduledQueues } from "../../../messages/ScheduledQueues.ts"
import * as Query from "../../../platform/database/Query.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** Batches that one statement releases, each with up to 500 recipients. */
const portion = 10

/** Queues scheduled batches at their time, account by account. The mailer then checks their account and their sender again. */
export const ScheduledBatches = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { wake } = yield* BulkEmail
  const queues = yield* ScheduledQueues

  const released = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: EmailBatchId }),
    execute: () =>
      sql`with turns as (
          select id, row_number() over (partition by account_id order by send_at, id) as turn, send_at from email_batches
          where status = 'scheduled' and send_at <= now()
        ), due as (
          -- The time again: the batch may have got another one since the statement began.
          select b.id from email_batches b join turns t using (id) where b.status = 'scheduled' and b.send_at <= now()
          order by t.turn, t.send_at limit ${portion} for update of b skip locked
        ), changed as (
          update email_messages m set status = 'queued' from due where m.batch_id = due.id and m.status = 'scheduled'
        )
        update email_batches b set status = 'queued' from due where b.id = due.id returning b.id`
  })

  const release = Effect.gen(function*() {
    const ids = (yield* released()).map(({ id }) => id)
    if (ids.length > 0) yield* Effect.forkDetach(wake(ids))
    return ids.length
  })
  yield* queues.register("email_batches", release)
}))
