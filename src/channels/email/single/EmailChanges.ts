import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MessageOver, notCanceled } from "../../../messages/MessageOver.ts"
import { timeOf } from "../../../messages/sendFields.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { type NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Usage } from "../../../usage/Usage.ts"
import { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { MessageProgress } from "../recipients/MessageProgress.ts"
import type { EmailMessageDetails } from "./Email.ts"
import { Emails } from "./Emails.ts"

const One = Schema.Struct({ accountId: AccountId, id: EmailMessageId })

/** Withdraws emails, and gives scheduled ones another time. */
export class EmailChanges extends Context.Service<EmailChanges, {
  /**
   * Cancels the recipients whose mail transaction has not begun, and gives back their quota. Fails if there are none. A batch
   * that has ended with it is found by the poll for batches.
   */
  readonly cancel: (
    accountId: AccountId,
    id: EmailMessageId
  ) => Effect.Effect<EmailMessageDetails, NotFound | MessageOver>
  readonly reschedule: (
    accountId: AccountId,
    id: EmailMessageId,
    at: string
  ) => Effect.Effect<EmailMessageDetails, NotFound | MessageOver | ValidationFailed>
}>()("messaging-service/channels/email/single/EmailChanges") {
  static readonly layer = Layer.effect(
    EmailChanges,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const emails = yield* Emails
      const progress = yield* MessageProgress
      const usage = yield* Usage

      /** A claim locks the row too: of a cancel and a hand-over that race, one finds the status that it needs. */
      const canceled = Query.findOne({
        Request: One,
        Result: Schema.Struct({ count: Schema.Int, created_at: Schema.NullOr(Timestamp) }),
        execute: ({ accountId, id }) =>
          sql`with mine as (
              select id from email_messages where account_id = ${accountId} and (id = ${id} or part_of = ${id})
              order by id for update
            ), ended as (
              update email_messages m set status = 'canceled', due_at = null, completed_at = now() from mine
              where m.id = mine.id and m.account_id = ${accountId} and m.status in ('scheduled', 'queued')
              returning m.batch_id, m.created_at
            ), counted as (
              update email_batches b set canceled = canceled + 1 from ended
              where b.id = ended.batch_id and b.account_id = ${accountId}
            )
            select count(*) as count, min(created_at) as created_at from ended`
      })

      const rescheduled = Query.findOneOption({
        Request: Schema.Struct({ ...One.fields, at: Timestamp }),
        Result: Schema.Struct({ id: EmailMessageId }),
        execute: ({ accountId, at, id }) =>
          sql`with mine as (
              select id from email_messages where account_id = ${accountId} and (id = ${id} or part_of = ${id})
                and status = 'scheduled' and batch_id is null
              order by id for update
            ), dated as (
              update email_contents set created_at = ${at}::timestamptz
              where id = ${id} and account_id = ${accountId} and exists (select from mine)
            )
            -- The first recipient's row shows the time of the message, also if that address is suppressed.
            update email_messages m set send_at = ${at}::timestamptz,
              reschedules = with_reschedule(reschedules, send_at, ${at}::timestamptz)
            where (m.id = ${id} or m.id = any(array(select id from mine))) and m.account_id = ${accountId}
              and exists (select from mine) returning m.id`
      })

      return EmailChanges.of({
        cancel: Effect.fn("EmailChanges.cancel")(function*(accountId, id) {
          yield* emails.find(accountId, id)
          const { count } = yield* transaction(Effect.tap(
            canceled({ accountId, id }),
            ({ count, created_at }) =>
              created_at === null
                ? Effect.void
                : Effect.andThen(
                  progress.publishCanceled({ emailId: id }),
                  usage.count([{ accountId, metric: "email", count: -count, at: created_at }])
                )
          ))
          const email = yield* emails.find(accountId, id)
          return count > 0 ? email : yield* notCanceled(email)
        }),
        reschedule: Effect.fn("EmailChanges.reschedule")(function*(accountId, id, text) {
          const { batch_id, status } = yield* emails.find(accountId, id)
          if (batch_id !== null && status === "scheduled") {
            return yield* ValidationFailed.of(
              "id",
              "names an email of a batch, which has the time of its batch; reschedule the batch"
            )
          }
          const moved = yield* rescheduled({ accountId, id, at: yield* timeOf(text) })
          const email = yield* emails.find(accountId, id)
          return Option.isSome(moved) ? email : yield* new MessageOver({ status: email.status })
        })
      })
    })
  )
}
