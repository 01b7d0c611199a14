import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { messageLabels } from "../../../values/Labels.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { type LaterStatus, RecipientStatus } from "./MessageState.ts"
import { interrupted } from "./RecipientState.ts"

const MessageRow = Schema.Struct({
  id: EmailMessageId,
  account_id: AccountId,
  batch_id: Schema.NullOr(EmailBatchId),
  recipient: Schema.String,
  status: Schema.Union([RecipientStatus, Schema.Literal("sending")]),
  /** The record of an email with several recipients, otherwise the message itself. */
  email_id: EmailMessageId,
  subject: Schema.NullOr(Schema.String),
  /** The relay's acceptance is recorded. */
  was_sent: Schema.Boolean,
  /** A mail server has reported its delivery. */
  was_delivered: Schema.Boolean,
  /** The relay may have accepted it. */
  may_be_sent: Schema.Boolean,
  /** The template of the batch's subject, rendered with `variables`. */
  batch_subject: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  ...messageLabels
})
/** A message as the database holds it. */
export type MessageRow = typeof MessageRow.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columns = sql.literal(
    `m.id, m.account_id, m.batch_id, m.recipient, m.status, m.variables, m.tags, m.metadata, m.failover_id,
    m.sent_at is not null as was_sent, m.delivered_at is not null as was_delivered, m.status not in ('scheduled', 'queued', 'failed', 'suppressed', 'canceled')
      or m.doubts > 0 or m.error is not distinct from '${interrupted}' as may_be_sent,
    b.subject as batch_subject, coalesce(m.part_of, m.id) as email_id,
    coalesce(m.subject, (select e.subject from email_messages e where e.id = m.part_of)) as subject`
  )

  /** Messages that the current transaction has ended without an attempt: they have its time. */
  const unsent = Query.findAll({
    Request: Schema.Struct({
      batchId: Schema.NullOr(EmailBatchId),
      emailId: Schema.NullOr(EmailMessageId),
      status: Schema.Literals(["suppressed", "canceled"])
    }),
    Result: Schema.Struct({ ...MessageRow.fields, ended_at: Timestamp }),
    execute: ({ batchId, emailId, status }) =>
      sql`select ${columns}, m.completed_at as ended_at
        from email_messages m left join email_batches b on b.id = m.batch_id
        where ${batchId === null ? sql`(m.id = ${emailId} or m.part_of = ${emailId})` : sql`m.batch_id = ${batchId}`}
          and m.status = ${status} and m.completed_at = now()
        order by m.id`
  })

  /** Messages that the current transaction has given up. */
  const failed = Query.findAll({
    Request: Schema.Array(EmailMessageId),
    Result: Schema.Struct({ ...MessageRow.fields, ended_at: Timestamp, error: Schema.String }),
    execute: (ids) =>
      sql`select ${columns}, m.completed_at as ended_at, m.error
        from email_messages m left join email_batches b on b.id = m.batch_id
        where m.id = any(${column.int8(ids)}) order by m.id`
  })

  const lock = Query.findOneOption({
    Request: EmailMessageId,
    Result: Schema.Struct({ ...MessageRow.fields, at: Timestamp }),
    execute: (id) =>
      // A report may overtake the record of the relay's acceptance.
      sql`select ${columns}, greatest(now(), m.sent_at) as at
        from email_messages m left join email_batches b on b.id = m.batch_id where m.id = ${id} for update of m`
  })

  /**
   * Writes a later status. It also settles a message that is still in `sending`: the sender updates only rows in that
   * status, so its own outcome then changes nothing.
   */
  const advance = (id: EmailMessageId, change: {
    readonly status: LaterStatus
    readonly isDelivered: boolean
    readonly at: Timestamp
    readonly bounce?: { readonly bounceType: "hard" | "soft"; readonly error: string } | undefined
  }) => {
    const { at, bounce, isDelivered, status } = change
    return Query.run(sql`update email_messages set status = ${status},
        attempt_count = attempt_count + case when status = 'sending' then 1 else 0 end,
        bounce_type = ${bounce === undefined ? sql`bounce_type` : sql`${bounce.bounceType}`},
        error = ${
      bounce === undefined
        ? sql`case when status in ('sending', 'sent') then null else error end`
        : sql`${bounce.error}`
    },
        sent_at = coalesce(sent_at, ${at}::timestamptz),
        delivered_at = ${isDelivered ? sql`${at}::timestamptz` : sql`delivered_at`},
        completed_at = ${
      status === "bounced" || status === "complained"
        ? sql`${at}::timestamptz`
        : sql`coalesce(completed_at, ${at}::timestamptz)`
    }, due_at = null
      where id = ${id}`)
  }

  /** Notes why a sent message is not delivered yet. Answers with the message unless it says so already. */
  const delayed = Query.findOneOption({
    Request: Schema.Struct({ id: EmailMessageId, error: Schema.String }),
    Result: Schema.Struct({ id: EmailMessageId }),
    execute: ({ error, id }) =>
      sql`update email_messages set error = ${error}
        where id = ${id} and status = 'sent' and error is distinct from ${error} returning id`
  })

  /** Counts a message as sent that its batch counted as queued until now. */
  const countSent = (batchId: EmailBatchId) =>
    Query.run(sql`update email_batches set sent = sent + 1 where id = ${batchId}`)

  return { lock, unsent, failed, advance, countSent, delayed }
})

/** SQL that moves accepted messages forward. */
export class MessageProgressRepo
  extends Context.Service<MessageProgressRepo>()("messaging-service/channels/email/recipients/MessageProgressRepo", {
    make
  })
{
  static readonly layer = Layer.effect(MessageProgressRepo, make)
}
