import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import type { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { Usage } from "../usage/Usage.ts"
import { AccountId, MessageBatchId, MessageId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Channel, type Message, type MessageBatch } from "./Message.ts"
import { MessageOver } from "./MessageOver.ts"
import { Messages, type Owner } from "./Messages.ts"
import { timeOf } from "./sendFields.ts"

/** A message that was canceled, with what it had used. */
export const CanceledMessage = Schema.Struct({
  id: MessageId,
  account_id: AccountId,
  channel: Channel,
  batch_id: Schema.NullOr(MessageBatchId),
  segments: Schema.NullOr(Schema.Int),
  cost_micros: Schema.NullOr(Schema.Int),
  created_at: Timestamp
})

/** What the canceled messages give back, on the day of their requests. */
export const refundOf = (
  canceled: ReadonlyArray<typeof CanceledMessage.Type>
): Parameters<Usage["Service"]["count"]>[0] =>
  canceled.flatMap(({ account_id: accountId, channel: metric, cost_micros, created_at: at, segments }) => [
    { accountId, metric, count: -1, at },
    ...(segments === null
      ? []
      : [{ accountId, metric: "sms_segments" as const, count: -segments, costMicros: -(cost_micros ?? 0), at }])
  ])

type Refusal = NotFound | MessageOver | ValidationFailed

/** Gives scheduled messages and batches of SMS and WhatsApp another time. */
export class MessageChanges extends Context.Service<MessageChanges, {
  readonly reschedule: (owner: Owner, id: MessageId, at: string) => Effect.Effect<Message, Refusal>
  readonly rescheduleBatch: (owner: Owner, id: MessageBatchId, at: string) => Effect.Effect<MessageBatch, Refusal>
}>()("messaging-service/messages/MessageChanges") {
  static readonly layer = Layer.effect(
    MessageChanges,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const messages = yield* Messages

      const move = Query.findOneOption({
        Request: Schema.Struct({ accountId: AccountId, channel: Channel, id: MessageId, at: Timestamp }),
        Result: Schema.Struct({ id: MessageId }),
        execute: ({ accountId, at, channel, id }) =>
          sql`update messages set send_at = ${at}::timestamptz,
              reschedules = with_reschedule(reschedules, send_at, ${at}::timestamptz)
            where id = ${id} and account_id = ${accountId} and channel = ${channel} and status = 'scheduled'
            returning id`
      })

      /** Messages first, as the release locks them. */
      const moveBatch = Query.findOneOption({
        Request: Schema.Struct({ accountId: AccountId, id: MessageBatchId, at: Timestamp }),
        Result: Schema.Struct({ id: MessageBatchId }),
        execute: ({ accountId, at, id }) =>
          sql`with waiting as (
              select id from messages where batch_id = ${id} and account_id = ${accountId} and status = 'scheduled'
              order by id for update
            ), moved as (
              update messages m set send_at = ${at}::timestamptz from waiting where m.id = waiting.id returning 1
            )
            update message_batches set send_at = ${at}::timestamptz,
              reschedules = with_reschedule(reschedules, send_at, ${at}::timestamptz)
            where id = ${id} and account_id = ${accountId} and status = 'scheduled' and (select count(*) from moved) > 0
            returning id`
      })

      return MessageChanges.of({
        reschedule: Effect.fn("MessageChanges.reschedule")(function*(owner, id, text) {
          yield* messages.find(owner, id)
          const moved = yield* move({ ...owner, id, at: yield* timeOf(text) })
          const message = yield* messages.find(owner, id)
          return Option.isSome(moved) ? message : yield* new MessageOver({ status: message.status })
        }),
        rescheduleBatch: Effect.fn("MessageChanges.rescheduleBatch")(function*(owner, id, text) {
          yield* messages.batch(owner, id)
          const at = yield* timeOf(text)
          yield* transaction(Effect.gen(function*() {
            const moved = yield* moveBatch({ accountId: owner.accountId, id, at })
            // A part of the batch that has begun takes back the new time of the rest.
            if (Option.isNone(moved)) {
              return yield* new MessageOver({ status: (yield* messages.batch(owner, id)).status })
            }
          }))
          return yield* messages.batch(owner, id)
        })
      })
    })
  )
}
