import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BatchStatus } from "../../../messages/Message.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { direction, Sort, windowFields } from "../../../values/Page.ts"
import { modeColumn } from "../../../values/TestMode.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"
import { Batch, BatchRecipient } from "./Batch.ts"

const One = Schema.Struct({ accountId: AccountId, batchId: EmailBatchId })

const BatchFilter = Schema.Struct({
  accountId: AccountId,
  status: Schema.NullOr(BatchStatus),
  tags: Schema.NullOr(Schema.Array(Schema.String)),
  sort: Sort,
  ...windowFields
})

const RecipientFilter = Schema.Struct({
  batchId: EmailBatchId,
  status: Schema.NullOr(RecipientStatus),
  ...windowFields
})

/** A recipient with its place in the request. */
const PlacedRecipient = Schema.Struct({ ...BatchRecipient.fields, position: Schema.Int })
export type PlacedRecipient = typeof PlacedRecipient.Type

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(`id as batch_id, status, total, total - sent - failed - suppressed - canceled as queued,
    sent, failed, suppressed, canceled, tags, metadata, send_at, ${modeColumn()},
    created_at, started_at, completed_at, resent_as`)

  const find = Query.findOneOption({
    Request: One,
    Result: Batch,
    execute: ({ accountId, batchId }) =>
      sql`select ${columns} from email_batches where id = ${batchId} and account_id = ${accountId}`
  })

  const listed = ({ accountId, status, tags }: typeof BatchFilter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId}`,
      ...(status === null ? [] : [sql`status = ${status}`]),
      ...(tags === null ? [] : [sql`tags @> ${column.text(tags)}::text[]`])
    ])

  const list = Query.findAll({
    Request: BatchFilter,
    Result: Batch,
    execute: (filter) => {
      const by = sql.literal(direction(filter.sort))
      return sql`select ${columns} from email_batches where ${listed(filter)} and ${Query.afterTime(sql, filter)}
        order by created_at ${by}, id ${by} limit ${filter.limit} offset ${filter.offset}`
    }
  })

  const count = Query.findOne({
    Request: BatchFilter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from email_batches where ${listed(filter)}`)
  })

  const matching = ({ batchId, status }: typeof RecipientFilter.Encoded) =>
    sql.and([
      sql`batch_id = ${batchId}`,
      ...(status === null ? [] : [status === "queued" ? sql`status in ('queued', 'sending')` : sql`status = ${status}`])
    ])

  /** The row of the cursor may have been deleted, so the cursor has its position. Earlier ones have only its id. */
  const behind = ({ after, batchId }: typeof RecipientFilter.Encoded) =>
    after === null
      ? sql`true`
      : sql`position > coalesce(${after[1] ?? null}::integer,
          (select position from email_messages where batch_id = ${batchId} and id = ${after[0]}::bigint))`

  const recipients = Query.findAll({
    Request: RecipientFilter,
    Result: PlacedRecipient,
    execute: (filter) =>
      sql`select id, position, recipient as to, case when status = 'sending' then 'queued' else status end as status, attempt_count,
          case when status = 'queued' then due_at end as next_attempt_at, bounce_type, error, sent_at,
          opens, clicks
        from email_messages where ${matching(filter)} and ${behind(filter)}
        order by position limit ${filter.limit} offset ${filter.offset}`
  })

  const countRecipients = Query.findOne({
    Request: RecipientFilter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from email_messages where ${matching(filter)}`
  })

  return { list, count, find, recipients, countRecipients }
})

/** SQL that reads batches and their recipients for the API. */
export class BatchReadRepo
  extends Context.Service<BatchReadRepo>()("messaging-service/channels/email/bulk/BatchReadRepo", { make })
{
  static readonly layer = Layer.effect(BatchReadRepo, make)
}
