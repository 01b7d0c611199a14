import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { column } from "../../../platform/database/column.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { Usage } from "../../../usage/Usage.ts"
import { type AccountId, type EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { Suppressions } from "../suppressions/Suppressions.ts"
import type { Transition } from "./RecipientState.ts"

/** The outcome of one attempt, ready to be recorded. */
export interface RecipientRecord {
  readonly id: EmailMessageId
  /** The id in its events: the record of its email. */
  readonly emailId: EmailMessageId
  readonly accountId: AccountId
  /** Null for a single email. */
  readonly batchId: EmailBatchId | null
  readonly to: string
  readonly subject: string
  readonly at: Timestamp
  /** The row's attempt count when it was claimed. A later claim by another owner has a higher one. */
  readonly attemptsBefore: number
  readonly transition: Transition
}

const eventsOf = ({ accountId, at, batchId, emailId, subject, to, transition }: RecipientRecord) => {
  const email = { id: emailId, batch_id: batchId, to, subject }
  if (transition.status === "sent") {
    return [domainEvent({ accountId, event: "email.sent", data: { ...email, sent_at: at } })]
  }
  if (transition.status !== "bounced") return []
  const bounce = { bounced_at: at, bounce_type: transition.bounce_type ?? "hard", error: transition.error ?? "" }
  return [domainEvent({ accountId, event: "email.bounced", data: { ...email, ...bounce } })]
}

/** The counts of a batch that the last of its recipients has ended. */
const EndedBatch = Schema.Struct({
  total: Schema.Int,
  sent: Schema.Int,
  failed: Schema.Int,
  suppressed: Schema.Int,
  canceled: Schema.Int,
  completed_at: Timestamp
})

/** The event of a batch's end, under the batch's id. */
const endOf = ({ accountId, batchId }: RecipientRecord, ended: typeof EndedBatch.Type | null) =>
  ended === null || batchId === null
    ? []
    : [
      [
        batchId,
        domainEvent({ accountId, event: "email.bulk_completed", data: { batch_id: batchId, ...ended } })
      ] as const
    ]

const sentOf = ({ accountId, at, transition }: RecipientRecord) =>
  transition.status === "sent" ? [{ accountId, metric: "email_sent" as const, count: 1, at }] : []

/**
 * Records all outcomes of a node. Many recipients' rows, counts, suppressions and events change in one transaction, which
 * also completes the batches whose last recipient has ended. A row
 * changes only while the reporting owner's claim holds, so an owner that lost its shard cannot count it again.
 */
export class RecipientOutcomes extends Context.Service<RecipientOutcomes, {
  /** Returns when the outcome is committed. */
  readonly record: (record: RecipientRecord) => Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/RecipientOutcomes") {
  static readonly layer = Layer.effect(
    RecipientOutcomes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const events = yield* Events
      const usage = yield* Usage
      const suppressions = yield* Suppressions

      const writeRows = (records: ReadonlyArray<RecipientRecord>) => {
        const of = <A>(read: (record: RecipientRecord) => A) => records.map(read)
        const delays = of(({ transition: { delay } }) => delay === undefined ? null : Duration.toMillis(delay))
        const changed = Query.findAll({
          Request: Schema.Void,
          Result: Schema.Struct({ id: EmailMessageId, ended: Schema.NullOr(EndedBatch) }),
          execute: () =>
            sql`with outcome as (
                select * from unnest(${column.int8(of((r) => r.id))}, ${column.text(of((r) => r.transition.status))},
                  ${column.int4(of((r) => r.attemptsBefore))}, ${column.int4(of((r) => r.transition.attempt_count))},
                  ${column.float8(delays)},
                  ${column.text(of((r) => r.transition.bounce_type))}, ${column.text(of((r) => r.transition.error))},
                  ${column.bool(of((r) => r.transition.ambiguous))}, ${column.text(of((r) => r.at))}::timestamptz[])
                  as t (id, status, attempts_before, attempts, delay, bounce_type, error, ambiguous, at)
              ), changed as (
                update email_messages m set status = o.status, attempt_count = o.attempts, bounce_type = o.bounce_type,
                  error = o.error, doubts = m.doubts + o.ambiguous::int, due_at = now() + o.delay * interval '1 millisecond',
                  sent_at = case when o.status = 'sent' then o.at end,
                  completed_at = case when o.status <> 'queued' then o.at end
                from outcome o where m.id = o.id and m.status = 'sending' and m.attempt_count = o.attempts_before
                returning m.id, m.batch_id, m.status, o.ambiguous
              ), locked as (
                -- Every writer locks in this order, so that concurrent groups cannot deadlock.
                select id from email_batches where id in (select batch_id from changed) order by id for update
              ), counted as (
                update email_batches b set sent = b.sent + c.sent, failed = b.failed + c.failed,
                  ambiguous = b.ambiguous + c.ambiguous,
                  completed_at = case when b.sent + b.failed + b.suppressed + b.canceled + c.sent + c.failed = b.total
                    then now() end,
                  status = case
                    when b.status = 'canceled' or b.sent + b.failed + b.suppressed + b.canceled + c.sent + c.failed < b.total
                      then b.status
                    when b.sent + c.sent > 0 then 'completed' else 'failed' end
                from (select batch_id, count(*) filter (where status = 'sent') as sent,
                    count(*) filter (where status in ('bounced', 'failed')) as failed, count(*) filter (where ambiguous) as ambiguous
                  from changed group by batch_id) c, locked
                where b.id = c.batch_id and b.id = locked.id
                returning b.id, b.total, b.sent, b.failed, b.suppressed, b.canceled, b.completed_at
              )
              select m.id, case when b.completed_at is not null then json_build_object('total', b.total, 'sent', b.sent,
                'failed', b.failed, 'suppressed', b.suppressed, 'canceled', b.canceled, 'completed_at',
                to_char(b.completed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end as ended
              from changed m left join counted b on b.id = m.batch_id`
        })
        return changed()
      }

      const write = (records: ReadonlyArray<RecipientRecord>) =>
        transaction(Effect.gen(function*() {
          const changed = new Map((yield* writeRows(records)).map(({ ended, id }) => [id, ended]))
          const counted = records.filter(({ id }) => changed.has(id))
          const ends = new Map(counted.flatMap((record) => endOf(record, changed.get(record.id) ?? null)))
          yield* suppressions.bounced(
            counted.map(({ accountId, emailId, to, transition }) => ({
              id: emailId,
              accountId,
              to,
              suppress: transition.suppress
            }))
          )
          yield* events.publish([...counted.flatMap(eventsOf), ...ends.values()])
          yield* usage.count(counted.flatMap(sentOf))
        }))

      const record = yield* GroupCommit.make({
        maxSize: 100,
        // Two concurrent groups would both wait for the batch's row, and each would be smaller.
        concurrency: 1,
        // Fewer and larger groups leave more of the database to concurrent senders. A node that dies still leaves at most
        // its messages in flight unrecorded.
        pause: "10 millis",
        run: (records: ReadonlyArray<RecipientRecord>) =>
          Effect.as(write(records), Array.from(records, () => undefined))
      })
      return RecipientOutcomes.of({ record })
    })
  )
}
