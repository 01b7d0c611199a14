import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { taggedRows } from "../platform/database/taggedRows.ts"
import { AccountId, MessageBatchId, MessageId } from "../values/Ids.ts"
import { direction, Sort, windowFields } from "../values/Page.ts"
import { modeColumn } from "../values/TestMode.ts"
import { Channel, Message, MessageBatch, MessageStatus } from "./Message.ts"

const Owner = { accountId: AccountId, channel: Channel }

const Filter = Schema.Struct({
  ...Owner,
  status: Schema.NullOr(MessageStatus),
  direction: Schema.NullOr(Schema.Literals(["in", "out"])),
  to: Schema.NullOr(Schema.String),
  from_date: Schema.NullOr(Schema.String),
  to_date: Schema.NullOr(Schema.String),
  batch_id: Schema.NullOr(MessageBatchId),
  session_id: Schema.NullOr(Schema.Int),
  chat: Schema.NullOr(Schema.String),
  tags: Schema.NullOr(Schema.Array(Schema.String)),
  sort: Sort,
  ...windowFields
})

const BatchFilter = Schema.Struct({
  ...Owner,
  status: Schema.NullOr(MessageBatch.fields.status),
  tags: Schema.NullOr(Schema.Array(Schema.String)),
  sort: Sort,
  ...windowFields
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columns = sql.literal(`id, channel, session_id, direction, sender as "from", recipient as "to", type, content,
    case when status = 'sending' then 'queued' else status end as status, error_code, error_message, segments,
    cost_micros / 1000000.0::float8 as cost_usd, batch_id, tags, metadata, send_at, ${modeColumn()}, failover_id,
    sent_at, delivered_at, read_at, case when status <> 'canceled' then failed_at end as failed_at, created_at`)

  const batchColumns = sql.literal(`id as batch_id, status, total, total - sent - failed - canceled as queued, sent,
    failed, 0 as suppressed, canceled, tags, metadata, send_at, ${modeColumn()}, created_at,
    started_at, completed_at, resent_as`)

  const matching = ({ accountId, channel, ...filter }: typeof Filter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId} and channel = ${channel}`,
      ...(filter.status === null ? [] : [
        filter.status === "queued" ? sql`status in ('queued', 'sending')` : sql`status = ${filter.status}`
      ]),
      ...(filter.direction === null ? [] : [sql`direction = ${filter.direction}`]),
      ...(filter.to === null ? [] : [sql`recipient = ${filter.to}`]),
      ...(filter.from_date === null ? [] : [sql`created_at >= ${filter.from_date}::timestamptz`]),
      ...(filter.to_date === null ? [] : [sql`created_at < ${filter.to_date}::timestamptz`]),
      ...(filter.batch_id === null ? [] : [sql`batch_id = ${filter.batch_id}`]),
      ...(filter.session_id === null ? [] : [sql`session_id = ${filter.session_id}`]),
      ...(filter.chat === null ? [] : [
        sql`(recipient = ${filter.chat}
          or (direction = 'in' and sender = ${filter.chat} and recipient not like '%@g.us'))`
      ]),
      ...(filter.tags === null ? [] : [taggedRows(sql, { accountId, tags: filter.tags })])
    ])

  /** Ids follow the order of creation and have the index. */
  const list = Query.findAll({
    Request: Filter,
    Result: Message,
    execute: (filter) =>
      sql`select ${columns} from messages where ${matching(filter)} and ${Query.afterId(sql, "id", filter)}
        order by id ${sql.literal(direction(filter.sort))} limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from messages where ${matching(filter)}`)
  })

  const find = Query.findOneOption({
    Request: Schema.Struct({ ...Owner, id: MessageId }),
    Result: Message,
    execute: ({ accountId, channel, id }) =>
      sql`select ${columns} from messages where id = ${id} and account_id = ${accountId} and channel = ${channel}`
  })

  const findBatch = Query.findOneOption({
    Request: Schema.Struct({ ...Owner, id: MessageBatchId }),
    Result: MessageBatch,
    execute: ({ accountId, channel, id }) =>
      sql`select ${batchColumns} from message_batches
        where id = ${id} and account_id = ${accountId} and channel = ${channel}`
  })

  const listed = ({ accountId, channel, status, tags }: typeof BatchFilter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId} and channel = ${channel}`,
      ...(status === null ? [] : [sql`status = ${status}`]),
      ...(tags === null ? [] : [sql`tags @> ${column.text(tags)}::text[]`])
    ])

  const listBatches = Query.findAll({
    Request: BatchFilter,
    Result: MessageBatch,
    execute: (filter) => {
      const by = sql.literal(direction(filter.sort))
      return sql`select ${batchColumns} from message_batches where ${listed(filter)} and ${Query.afterTime(sql, filter)}
        order by created_at ${by}, id ${by} limit ${filter.limit} offset ${filter.offset}`
    }
  })

  const countBatches = Query.findOne({
    Request: BatchFilter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from message_batches where ${listed(filter)}`)
  })

  return { list, count, find, findBatch, listBatches, countBatches }
})

/** SQL that reads `messages` and `message_batches`. Each channel writes its rows. */
export class MessagesRepo extends Context.Service<MessagesRepo>()("messaging-service/messages/MessagesRepo", { make }) {
  static readonly layer = Layer.effect(MessagesRepo, make)
}
