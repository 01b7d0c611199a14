import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import * as BatchComposer from "./BatchComposer.ts"
import { BatchesRepo, Claimed } from "./BatchesRepo.ts"

/**
 * Whether the texts of the batch `b` are gone: a day after its end, all at the same time. The large ones, `h` and `t`, may stay
 * in their table for longer than the others.
 */
export const textsGone = `(b.html_hash is not null and h.hash is null) or (b.text_hash is not null and t.hash is null)
  or (b.html_hash is null and b.text_hash is null and b.html = '' and b.text is null)
  or b.subject = '' or coalesce(b.completed_at < now() - interval '1 day', false)`

const makeFind = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { id, recipient, variables } = Claimed.fields
  return Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, id: EmailMessageId }),
    Result: Schema.Struct({ id, recipient, variables, batch_id: EmailBatchId }),
    execute: (one) =>
      sql`select m.id, m.recipient, m.variables, m.batch_id
        from email_messages m join email_batches b on b.id = m.batch_id
        left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
        left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
        where m.id = ${one.id} and m.account_id = ${one.accountId} and not (${sql.literal(textsGone)})`
  })
})

/** Composes the message of one recipient of a batch as it is sent, without a signature. */
export class BatchSources extends Context.Service<BatchSources, {
  /** None once the texts are no longer kept. */
  readonly read: (accountId: AccountId, id: EmailMessageId) => Effect.Effect<Option.Option<Uint8Array>>
}>()("messaging-service/channels/email/bulk/BatchSources") {
  static readonly layer = Layer.effect(
    BatchSources,
    Effect.gen(function*() {
      const repo = yield* BatchesRepo
      const find = yield* makeFind
      const composerOf = yield* BatchComposer.make
      return BatchSources.of({
        read: Effect.fn("BatchSources.read")(function*(accountId, id) {
          const row = Option.getOrUndefined(yield* find({ accountId, id }))
          const [content] = row === undefined ? [] : yield* repo.contents([row.batch_id])
          if (row === undefined || content?.account_id !== accountId) return Option.none()
          const { compose, rendered } = composerOf(content)
          return Option.map(Result.getSuccess(rendered), (render) => compose(row, render(row)))
        })
      })
    })
  ).pipe(Layer.provide(BatchesRepo.layer))
}
