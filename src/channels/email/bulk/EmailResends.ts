import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import type { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { contentGone, requireFailed } from "../../../messages/BatchResends.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound, type ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Variables } from "../../../templates/Recipients.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { labels } from "../../../values/Labels.ts"
import { DefaultSender } from "../request/DefaultSender.ts"
import type { Batch } from "./Batch.ts"
import { noHtml } from "./BatchesRepo.ts"
import { textsGone } from "./BatchSources.ts"
import { BulkEmail } from "./BulkEmail.ts"

const One = Schema.Struct({ accountId: AccountId, id: EmailBatchId })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** A batch with its texts. */
  const lock = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({
      is_open: Schema.Boolean,
      resent_as: Schema.NullOr(EmailBatchId),
      from_address: Schema.toType(EmailAddress),
      from_name: Schema.NullOr(Schema.String),
      subject: Schema.String,
      html: Schema.String,
      text: Schema.NullOr(Schema.String),
      is_gone: Schema.Boolean,
      track_opens: Schema.Boolean,
      track_clicks: Schema.Boolean,
      headers: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
      ...labels
    }),
    execute: ({ accountId, id }) =>
      sql`select completed_at is null as is_open, resent_as, from_address, from_name, subject,
          coalesce(convert_from(h.content, 'UTF8'), html) as html, coalesce(convert_from(t.content, 'UTF8'), text) as text,
          ${sql.literal(textsGone)} as is_gone,
          track_opens, links is not null as track_clicks, headers, tags, metadata
        from email_batches b
        left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
        left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
        where b.id = ${id} and b.account_id = ${accountId} for update of b`
  })

  const failed = Query.findAll({
    Request: One,
    Result: Schema.Struct({ to: Schema.toType(EmailAddress), variables: Variables }),
    execute: ({ accountId, id }) =>
      sql`select recipient as "to", variables from email_messages
        where batch_id = ${id} and account_id = ${accountId} and status in ('failed', 'bounced') order by position`
  })

  const mark = ({ accountId, id }: typeof One.Type, next: EmailBatchId) =>
    Query.run(sql`update email_batches set resent_as = ${next} where id = ${id} and account_id = ${accountId}`)

  return { lock, failed, mark }
})

/** Sends batches of email again, to the recipients that they did not reach. */
export class EmailResends extends Context.Service<EmailResends, {
  /** Once: a repeated call, also one at the same time, answers with the same new batch. */
  readonly resend: (
    accountId: AccountId,
    id: EmailBatchId
  ) => Effect.Effect<Batch, NotFound | ValidationFailed | EmailQuotaExceeded | SenderNotVerified>
}>()("messaging-service/channels/email/bulk/EmailResends") {
  static readonly layer = Layer.effect(
    EmailResends,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const bulk = yield* BulkEmail
      const shared = yield* DefaultSender
      const repo = yield* makeRepo
      return EmailResends.of({
        resend: Effect.fn("EmailResends.resend")(function*(accountId, id) {
          const one = { accountId, id }
          const next = yield* transaction(Effect.gen(function*() {
            const batch = Option.getOrUndefined(yield* repo.lock(one))
            if (batch === undefined) return yield* new NotFound()
            if (batch.resent_as !== null) return batch.resent_as
            const recipients = yield* repo.failed(one)
            yield* requireFailed(batch.is_open, recipients.length)
            if (batch.is_gone) return yield* contentGone
            const { from_address: address, from_name: name, headers, html, metadata, subject, tags, text } = batch
            const from = name === null ? { address } : { address, name }
            const { track_clicks, track_opens } = batch
            const made = yield* bulk.send(accountId, {
              recipients,
              subject,
              ...(html !== noHtml && { html }),
              ...(text !== null && { text }),
              ...(address !== shared.address && { from }),
              ...(headers !== null && { headers }),
              tags,
              metadata,
              track_opens,
              track_clicks
            }, from)
            yield* repo.mark(one, made.batch_id)
            return made.batch_id
          }))
          return yield* bulk.find(accountId, next)
        })
      })
    })
  )
}
