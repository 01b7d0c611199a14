import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ScheduledQueues } from "../../../messages/ScheduledQueues.ts"
import { portion, scheduledRows } from "../../../messages/scheduledRows.ts"
import * as Query from "../../../platform/database/Query.ts"
import { EmailSender } from "./EmailSender.ts"

/** Queues scheduled single emails at their time. The mailer then checks their account and their sender again. */
export const ScheduledEmails = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const sender = yield* EmailSender
  const queues = yield* ScheduledQueues
  const rows = scheduledRows(sql, { table: "email_messages", condition: "m.batch_id is null" })
  let takesTurns = false

  const released = Query.findOne({
    Request: Schema.Boolean,
    Result: Schema.Struct({ count: Schema.Int }),
    execute: (byTurns) =>
      sql`with due as (${byTurns ? rows.byTurns : rows.oldest}), changed as (
          update email_messages m set status = 'queued', due_at = m.send_at from due where m.id = due.id returning 1
        )
        select count(*) as count from changed`
  })

  const release = Effect.gen(function*() {
    const { count } = yield* released(takesTurns)
    takesTurns = count >= portion
    if (count > 0) yield* Effect.andThen(sender.wake("live"), sender.wake("test"))
    return count
  })
  yield* queues.register("email", release)
}))
