import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { column } from "../../../platform/database/column.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { Usage } from "../../../usage/Usage.ts"
import { type AccountId, type EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import type { MessageLabels } from "../../../values/Labels.ts"
import { isTest } from "../../../values/TestMode.ts"
import { fromDateTime, Timestamp } from "../../../values/Timestamp.ts"
import type { Transcript } from "../smtp/Transcript.ts"
import { Suppressions } from "../suppressions/Suppressions.ts"
import { failureOf, type Transition } from "./RecipientState.ts"

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
  readonly labels: MessageLabels
  readonly at: Timestamp
  /** The claim that made the attempt. A later claim of the recipient has another number. */
  readonly claimNumber: number
  readonly attemptsBefore: number
  readonly transition: Transition
  readonly transcript?: Transcript | undefined
}

/** What an attempt is called in the timeline of its message. */
const attemptOutcome = ({ isUnconfirmed, status }: Transition) => {
  if (status === "sent") return "accepted"
  if (status === "bounced") return "refused"
  if (isUnconfirmed) return "unconfirmed"
  return status === "queued" ? "deferred" : "failed"
}

/** Whether it was an attempt: a relay that cannot be used is not asked. */
const wasTried = ({ attemptsBefore, transcript, transition }: RecipientRecord) =>
  transition.attempt_count > attemptsBefore || (transcript?.durationMs ?? null) !== null

const eventsOf = (
  { accountId, at, attemptsBefore, batchId, emailId, labels, subject, to, transition }: RecipientRecord
) => {
  const email = { id: emailId, batch_id: batchId, to, subject, ...labels }
  if (transition.status === "sent") {
    return [domainEvent({ accountId, event: "email.sent", data: { ...email, sent_at: at } })]
  }
  if (transition.status === "suppressed") {
    return [domainEvent({ accountId, event: "email.suppressed", data: { ...email, suppressed_at: at } })]
  }
  const error = transition.error ?? ""
  if (transition.status === "failed") {
    const data = { ...email, failed_at: at, error }
    return [domainEvent({ accountId, event: "email.failed", data, reason: failureOf(error) })]
  }
  if (transition.status === "queued") {
    const { attempt_count: attempt, delay } = transition
    // A relay that cannot be used delays every email, and costs none of them an attempt.
    if (delay === undefined || attempt === attemptsBefore) return []
    const next_attempt_at = fromDateTime(DateTime.addDuration(DateTime.makeUnsafe(at), delay))
    const data = { ...email, delayed_at: at, attempt, next_attempt_at, error }
    return [domainEvent({ accountId, event: "email.delivery_delayed", data })]
  }
  const bounce = { bounced_at: at, bounce_type: transition.bounce_type ?? "hard", error }
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
const endOf = (
  { accountId, batchId, labels: { metadata, tags } }: RecipientRecord,
  ended: typeof EndedBatch.Type | null
) =>
  ended === null || batchId === null
    ? []
    : [
      [
        batchId,
        domainEvent({ accountId, event: "email.bulk_completed", data: { batch_id: batchId, tags, metadata, ...ended } })
      ] as const
    ]

const sentOf = ({ accountId, at, transition }: RecipientRecord) =>
  transition.status === "sent" ? [{ accountId, metric: "email_sent" as const, count: 1, at }] : []

/** The event of a suppressed message is not counted, because most are suppressed when they are accepted. */
const suppressedOf = ({ accountId, transition }: RecipientRecord) =>
  transition.status === "suppressed"
    ? [{ accountId, channel: "email" as const, outcome: "suppressed" as const, count: 1 }]
    : []

const count = ({ accountId, transition: { bounce_type, isUnconfirmed, status } }: RecipientRecord) => {
  if (isTest(accountId)) return
  if (status === "sent") MessageMetrics.sent("email")
  if (status === "bounced") MessageMetrics.failed("email", `bounced_${bounce_type ?? "hard"}`)
  if (status === "failed") MessageMetrics.failed("email", isUnconfirmed ? "outcome_unknown" : "unsendable")
}

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
      const { smtpDialogue: kept } = yield* AppConfig

      const dialogueOf = ({ transcript, transition: { status } }: RecipientRecord) =>
        transcript === undefined || kept === "none" || (kept === "failures" && status === "sent")
          ? null
          : transcript.dialogue

      /** Times follow the database's clock; of the node's clock only differences count. */
      const writeRows = (records: ReadonlyArray<RecipientRecord>, now: Timestamp) => {
        const of = <A>(read: (record: RecipientRecord) => A) => records.map(read)
        const delays = of(({ transition: { delay } }) => delay === undefined ? null : Duration.toMillis(delay))
        const changed = Query.findAll({
          Request: Schema.Void,
          Result: Schema.Struct({ id: EmailMessageId, at: Timestamp, ended: Schema.NullOr(EndedBatch) }),
          execute: () =>
            sql`with outcome as (
                select *, measured + (statement_timestamp() - ${now}::timestamptz) as at
                from unnest(${column.int8(of((r) => r.id))}, ${column.text(of((r) => r.transition.status))},
                  ${column.int4(of((r) => r.claimNumber))}, ${column.int4(of((r) => r.attemptsBefore))},
                  ${column.int4(of((r) => r.transition.attempt_count))},
                  ${column.float8(delays)},
                  ${column.text(of((r) => r.transition.bounce_type))}, ${column.text(of((r) => r.transition.error))},
                  ${column.bool(of((r) => r.transition.isUnconfirmed))}, ${column.text(of((r) => r.at))}::timestamptz[],
                  ${column.int8(of((r) => r.emailId))}, ${column.int8(of((r) => r.accountId))},
                  ${column.text(of((r) => r.to))}, ${column.bool(of(wasTried))},
                  ${column.text(of((r) => attemptOutcome(r.transition)))},
                  ${column.int4(of((r) => r.transcript?.durationMs ?? null))},
                  ${column.text(of((r) => r.transcript?.relay ?? null))},
                  ${column.text(of((r) => r.transcript?.reply ?? null))}, ${column.text(of(dialogueOf))})
                  as t (id, status, claims, attempts_before, attempts, delay, bounce_type, error, ambiguous, measured, email_id,
                    account_id, recipient, tried, result, duration, relay, reply, dialogue)
              ), changed as (
                update email_messages m set status = o.status, attempt_count = o.attempts, bounce_type = o.bounce_type,
                  error = o.error, doubts = m.doubts + o.ambiguous::int, due_at = now() + o.delay * interval '1 millisecond',
                  sent_at = case when o.status = 'sent' then o.at end,
                  completed_at = case when o.status <> 'queued' then o.at end
                from outcome o where m.id = o.id and m.status = 'sending' and m.claims = o.claims
                returning m.id, m.batch_id, m.status, o.ambiguous, o.at
              ), attempted as (
                -- A partition exists for every time near the database's.
                insert into message_attempts (account_id, channel, message_id, recipient, at, attempt, outcome, duration_ms,
                  peer, reply, next_at, dialogue)
                select o.account_id, 'email', o.email_id, o.recipient,
                  least(greatest(o.at, now() - interval '1 hour'), now() + interval '1 hour'), o.attempts_before + 1,
                  o.result, o.duration, o.relay, coalesce(o.error, o.reply), now() + o.delay * interval '1 millisecond',
                  o.dialogue
                from outcome o join changed c on c.id = o.id where o.tried
              ), locked as (
                -- Every writer locks in this order, so that concurrent groups cannot deadlock.
                select id from email_batches where id in (select batch_id from changed) order by id for update
              ), counted as (
                update email_batches b set sent = b.sent + c.sent, failed = b.failed + c.failed,
                  suppressed = b.suppressed + c.suppressed, ambiguous = b.ambiguous + c.ambiguous,
                  -- The lock waits until the other outcomes of the batch are committed, so this time is later than theirs.
                  completed_at = case when b.sent + b.failed + b.suppressed + b.canceled + c.ended = b.total
                    then clock_timestamp() end,
                  status = case
                    when b.status = 'canceled' or b.sent + b.failed + b.suppressed + b.canceled + c.ended < b.total
                      then b.status
                    when b.sent + c.sent > 0 then 'completed' else 'failed' end
                from (select batch_id, count(*) filter (where status = 'sent') as sent,
                    count(*) filter (where status in ('bounced', 'failed')) as failed,
                    count(*) filter (where status = 'suppressed') as suppressed,
                    count(*) filter (where status <> 'queued') as ended, count(*) filter (where ambiguous) as ambiguous
                  from changed group by batch_id) c, locked
                where b.id = c.batch_id and b.id = locked.id
                returning b.id, b.total, b.sent, b.failed, b.suppressed, b.canceled, b.completed_at
              )
              select m.id, m.at, case when b.completed_at is not null then json_build_object('total', b.total, 'sent', b.sent,
                'failed', b.failed, 'suppressed', b.suppressed, 'canceled', b.canceled, 'completed_at',
                to_char(b.completed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end as ended
              from changed m left join counted b on b.id = m.batch_id`
        })
        return changed()
      }

      const write = (records: ReadonlyArray<RecipientRecord>) =>
        transaction(Effect.gen(function*() {
          const rows = yield* writeRows(records, fromDateTime(yield* DateTime.now))
          const changed = new Map(rows.map((row) => [row.id, row]))
          const counted = records.flatMap((record) => {
            const row = changed.get(record.id)
            return row === undefined ? [] : [{ ...record, at: row.at }]
          })
          const ends = new Map(counted.flatMap((record) => endOf(record, changed.get(record.id)?.ended ?? null)))
          yield* suppressions.bounced(
            counted.map(({ accountId, emailId, to, transition }) => ({
              id: emailId,
              accountId,
              to,
              suppress: transition.suppress
            }))
          )
          yield* events.publish([...counted.flatMap(eventsOf), ...ends.values()])
          yield* events.count(counted.flatMap(suppressedOf))
          yield* usage.count(counted.flatMap(sentOf))
          return counted
        })).pipe(Effect.map((counted) => counted.forEach(count)))

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
