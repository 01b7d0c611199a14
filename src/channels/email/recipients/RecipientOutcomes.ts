import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { coalesce } from "../../../platform/database/coalesce.ts"
import { column } from "../../../platform/database/column.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { makeSuppressionsRepo } from "../suppressions/SuppressionsRepo.ts"
import type { Settled } from "./RecipientState.ts"

/** What became of one recipient, ready to be written down. */
export interface RecipientRecord {
  readonly id: EmailMessageId
  /** What its events call it: the record of its email. */
  readonly emailId: EmailMessageId
  readonly accountId: AccountId
  /** null for an email of its own. */
  readonly batchId: EmailBatchId | null
  readonly to: string
  readonly subject: string
  readonly at: Timestamp
  /** What the row counted when it was claimed: another owner's claim counts more. */
  readonly attemptsBefore: number
  readonly settled: Settled
}

const domainEventOf = ({ accountId, at, batchId, emailId, settled, subject, to }: RecipientRecord) => {
  const email = { id: emailId, batch_id: batchId, to, subject }
  if (settled.status === "sent") {
    return [domainEvent({ accountId, event: "email.sent", data: { ...email, sent_at: at } })]
  }
  if (settled.status !== "bounced") return []
  const bounce = { bounced_at: at, bounce_type: settled.bounce_type ?? "hard", error: settled.error ?? "" }
  return [domainEvent({ accountId, event: "email.bounced", data: { ...email, ...bounce } })]
}

const sentOf = ({ accountId, at, settled }: RecipientRecord) =>
  settled.status === "sent" ? [{ accountId, metric: "email_sent" as const, count: 1, at }] : []

/**
 * The one writer of what becomes of recipients on a node: rows, counts, suppressions and events of many at a time in one
 * transaction. A row is changed only while it is being sent by the owner that tells of it, so one that lost its shard
 * cannot count it again.
 */
export class RecipientOutcomes extends Context.Service<RecipientOutcomes, {
  /** Returns when the outcome is committed. */
  readonly record: (record: RecipientRecord) => Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/RecipientOutcomes") {
  static readonly layer = Layer.effect(
    RecipientOutcomes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const usage = yield* Usage
      const suppressions = yield* makeSuppressionsRepo

      const settle = (records: ReadonlyArray<RecipientRecord>) => {
        const of = <A>(read: (record: RecipientRecord) => A) => records.map(read)
        const delays = of(({ settled: { delay } }) => delay === undefined ? null : Duration.toMillis(delay))
        return sql`with outcome as (
            select * from unnest(${column.int8(of((r) => r.id))}, ${column.text(of((r) => r.settled.status))},
              ${column.int4(of((r) => r.attemptsBefore))}, ${column.int4(of((r) => r.settled.attempt_count))},
              ${column.float8(delays)},
              ${column.text(of((r) => r.settled.bounce_type))}, ${column.text(of((r) => r.settled.error))},
              ${column.bool(of((r) => r.settled.ambiguous))}, ${column.text(of((r) => r.at))}::timestamptz[])
              as t (id, status, attempts_before, attempts, delay, bounce_type, error, ambiguous, at)
          ), changed as (
            update email_messages m set status = o.status, attempt_count = o.attempts, bounce_type = o.bounce_type,
              error = o.error, doubts = m.doubts + o.ambiguous::int, due_at = now() + o.delay * interval '1 millisecond',
              sent_at = case when o.status = 'sent' then o.at end,
              completed_at = case when o.status <> 'queued' then o.at end
            from outcome o where m.id = o.id and m.status = 'sending' and m.attempt_count = o.attempts_before
            returning m.id, m.batch_id, m.status, o.ambiguous
          ), locked as (
            -- In one order by everybody, so that groups written at the same time cannot deadlock.
            select id from email_batches where id in (select batch_id from changed) order by id for update
          ), counted as (
            update email_batches b set sent = b.sent + c.sent, failed = b.failed + c.failed, ambiguous = b.ambiguous + c.ambiguous
            from (select batch_id, count(*) filter (where status = 'sent') as sent,
                count(*) filter (where status in ('bounced', 'failed')) as failed, count(*) filter (where ambiguous) as ambiguous
              from changed group by batch_id) c, locked
            where b.id = c.batch_id and b.id = locked.id
          )
          select id from changed`
      }

      const write = (records: ReadonlyArray<RecipientRecord>) =>
        transaction(Effect.gen(function*() {
          const changed = new Set((yield* Effect.orDie(settle(records))).map(({ id }) => id))
          const counted = records.filter(({ id }) => changed.has(id))
          yield* Effect.orDie(suppressions.bounced(
            counted.map(({ accountId, emailId, settled, to }) => ({
              id: emailId,
              accountId,
              to,
              suppress: settled.suppress
            }))
          ))
          yield* events.publish(counted.flatMap(domainEventOf))
          yield* usage.count(counted.flatMap(sentOf))
        })).pipe(Effect.provideService(SqlClient.SqlClient, sql))

      const record = yield* coalesce({
        most: 100,
        // Two at once would wait for each other at the batch's row, which both change, and each would hold fewer.
        concurrency: 1,
        // Fewer and larger groups leave more of the database to who sends at the same time. How many sent messages it may not
        // know of when a node dies is bounded by those under way, as before.
        rest: "10 millis",
        run: (records: ReadonlyArray<RecipientRecord>) =>
          Effect.as(write(records), Array.from(records, () => undefined))
      })
      return RecipientOutcomes.of({ record })
    })
  )
}
