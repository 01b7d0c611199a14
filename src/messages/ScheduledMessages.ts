import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type DomainEvent, Events } from "../events/Events.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { MessageMetrics } from "../platform/observability/MessageMetrics.ts"
import { AccountId, MessageBatchId, MessageId } from "../values/Ids.ts"
import { messageLabels } from "../values/Labels.ts"
import { isTest } from "../values/TestMode.ts"
import * as BatchCounts from "./BatchCounts.ts"
import type { Channel } from "./Message.ts"
import { Obstacle, obstacleOf, obstacles, obstacleText, portion, scheduledRows } from "./scheduledRows.ts"

const Released = Schema.Struct({
  id: MessageId,
  account_id: AccountId,
  session_id: Schema.NullOr(Schema.Int),
  batch_id: Schema.NullOr(MessageBatchId),
  recipient: Schema.String,
  type: Schema.String,
  segments: Schema.NullOr(Schema.Int),
  cost_micros: Schema.NullOr(Schema.Int),
  ...messageLabels,
  /** Why it failed. Null if it is queued. */
  reason: Schema.NullOr(Obstacle)
})

/** A message whose time has come: it is queued, or has failed because something hinders its account. */
export type ReleasedMessage = typeof Released.Type

interface MessageError {
  readonly error_code: string
  readonly error_message: string
}

interface Options {
  readonly channel: Channel
  /** Changes the rows of the channel with the messages `c`: its parts, or its outbox. Those with a reason have failed. */
  readonly work: Statement.Fragment
  /** message.failed with the error, or message.queued without one. */
  readonly eventOf: (message: ReleasedMessage, error: MessageError | undefined) => DomainEvent
  /** Wakes the senders after the commit. */
  readonly wake: (sessions: ReadonlyArray<number>) => Effect.Effect<void>
}

const errorOf = ({ reason }: ReleasedMessage): MessageError | undefined =>
  reason === null ? undefined : { error_code: reason, error_message: obstacles[reason] }

/**
 * The release of the scheduled messages of SMS or WhatsApp. Messages, their parts, their batches and their events change in
 * one transaction.
 */
export const make = Effect.fnUntraced(function*({ channel, eventOf, wake, work }: Options) {
  const sql = yield* SqlClient.SqlClient
  const { trialChannels } = yield* AppConfig
  const { afterCommit, transaction } = yield* Database
  const events = yield* Events
  const countBatches = yield* BatchCounts.make
  const rows = scheduledRows(sql, { table: "messages", condition: `m.channel = '${channel}'` })
  let takesTurns = false

  const released = Query.findOne({
    Request: Schema.Boolean,
    Result: Schema.Struct({ count: Schema.Int, sessions: Schema.Array(Schema.Int), told: Schema.Array(Released) }),
    execute: (byTurns) =>
      sql`with due as (${byTurns ? rows.byTurns : rows.oldest}), judged as (
          select m.id, ${obstacleOf(sql, channel, trialChannels)} as reason
          from due join messages m using (id) left join accounts a on a.id = m.account_id
        ), changed as (
          update messages m set status = case when j.reason is null then 'queued' else 'failed' end,
            error_code = j.reason, error_message = ${obstacleText(sql, "j.reason")},
            failed_at = case when j.reason is not null then now() end
          from judged j where m.id = j.id
          returning m.id, m.account_id, m.session_id, m.batch_id, m.recipient, m.type, m.segments, m.cost_micros,
            m.tags, m.metadata, m.failover_id, m.send_at, j.reason
        ), work as (${work}), locked as (
          -- In the order of all writers.
          select id from message_batches where status = 'scheduled' and id in (select batch_id from changed)
          order by id for update
        ), begun as (
          update message_batches b set status = 'queued' from locked where b.id = locked.id
        )
        select count(*) as count,
          coalesce(array_agg(distinct session_id) filter (where session_id is not null and reason is null), '{}') as sessions,
          coalesce(jsonb_agg(to_jsonb(c)) filter (where reason is not null or account_id in (
            select own.account_id from (select distinct account_id from changed) own
            where ${events.isWanted(sql`own.account_id`, { event: "message.queued", channel })})), '[]') as told
        from changed c`
  })

  const release = Effect.gen(function*() {
    const { count, sessions, told } = yield* released(takesTurns)
    const failed = told.flatMap(({ account_id, batch_id: batchId, reason }) =>
      reason === null ? [] : [{ accountId: account_id, batchId, reason }]
    )
    yield* countBatches(failed.map(({ batchId }) => ({ batchId, to: "failed" as const })))
    yield* events.publish(told.map((message) => eventOf(message, errorOf(message))))
    yield* afterCommit(Effect.andThen(
      Effect.sync(() => {
        for (const { accountId, reason } of failed) if (!isTest(accountId)) MessageMetrics.failed(channel, reason)
      }),
      wake(sessions)
    ))
    return count
  })

  const releasing: Effect.Effect<number> = Effect.map(transaction(release), (count) => {
    takesTurns = count >= portion
    return count
  })
  return { release: releasing }
})
