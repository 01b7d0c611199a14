import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { AccountId, MessageBatchId } from "../values/Ids.ts"
import { labels } from "../values/Labels.ts"
import { Channel, type MessageBatch, MessageContent } from "./Message.ts"
import { Messages, type Owner } from "./Messages.ts"
import { requester, type Sending } from "./sendFields.ts"

/** A message of a batch that failed, as it is sent again. */
const FailedMessage = Schema.Struct({
  to: Schema.String,
  from: Schema.NullOr(Schema.String),
  type: Schema.String,
  session_id: Schema.NullOr(Schema.Int),
  content: Schema.NullOr(MessageContent)
})
export type FailedMessage = Omit<typeof FailedMessage.Type, "content"> & { readonly content: MessageContent }

const refusal = (message: string) => ValidationFailed.of("batch_id", message)

export const contentGone = refusal("names a batch whose content is no longer kept; send it as a new one")

export const senderGone = refusal("names a batch whose sender id is no longer offered; send it as a new one")

/** Refuses a batch that has not ended, or whose messages have all arrived. */
export const requireFailed = (isOpen: boolean, failed: number): Effect.Effect<void, ValidationFailed> =>
  isOpen
    ? refusal("names a batch that has not ended; wait until it is completed")
    : failed === 0
    ? refusal("names a batch without failed recipients")
    : Effect.void

/** The fields that every message of the new batch has. It is sent at once. */
const sendingAgain = Effect.fnUntraced(function*({ metadata, tags }: Pick<Sending, "metadata" | "tags">) {
  const sending: Sending = { tags, metadata, failover_id: null, sendAt: null, acceptedBy: yield* requester }
  return sending
})

const One = Schema.Struct({ accountId: AccountId, channel: Channel, id: MessageBatchId })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const lock = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ is_open: Schema.Boolean, resent_as: Schema.NullOr(MessageBatchId), ...labels }),
    execute: ({ accountId, channel, id }) =>
      sql`select completed_at is null as is_open, resent_as, tags, metadata from message_batches
        where id = ${id} and account_id = ${accountId} and channel = ${channel} for update`
  })

  const failed = Query.findAll({
    Request: One,
    Result: FailedMessage,
    execute: ({ accountId, id }) =>
      sql`select recipient as "to", sender as "from", type, session_id, content from messages
        where batch_id = ${id} and account_id = ${accountId} and status = 'failed' order by id`
  })

  const mark = ({ accountId, id }: typeof One.Type, next: MessageBatchId) =>
    Query.run(sql`update message_batches set resent_as = ${next} where id = ${id} and account_id = ${accountId}`)

  return { lock, failed, mark }
})

/** Sends batches of SMS and WhatsApp messages again, to the recipients that they did not reach. */
export class BatchResends extends Context.Service<BatchResends, {
  /**
   * Sends a batch again in the channel's way, once: a repeated call, also one at the same time, answers with the same new
   * batch.
   */
  readonly resend: <E, R>(
    owner: Owner,
    id: MessageBatchId,
    send: (failed: ReadonlyArray<FailedMessage>, sending: Sending) => Effect.Effect<MessageBatchId, E, R>
  ) => Effect.Effect<MessageBatch, E | NotFound | ValidationFailed, R>
}>()("messaging-service/messages/BatchResends") {
  static readonly layer = Layer.effect(
    BatchResends,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const messages = yield* Messages
      const repo = yield* makeRepo
      return BatchResends.of({
        resend: Effect.fn("BatchResends.resend")(function*(owner, id, send) {
          const one = { ...owner, id }
          const next = yield* transaction(Effect.gen(function*() {
            const batch = Option.getOrUndefined(yield* repo.lock(one))
            if (batch === undefined) return yield* new NotFound()
            if (batch.resent_as !== null) return batch.resent_as
            const rows = yield* repo.failed(one)
            yield* requireFailed(batch.is_open, rows.length)
            const failed = rows.flatMap(({ content, ...row }) => content === null ? [] : [{ ...row, content }])
            if (failed.length < rows.length) return yield* contentGone
            const made = yield* send(failed, yield* sendingAgain(batch))
            yield* repo.mark(one, made)
            return made
          }))
          return yield* messages.batch(owner, next)
        })
      })
    })
  ).pipe(Layer.provide(Messages.layer))
}
