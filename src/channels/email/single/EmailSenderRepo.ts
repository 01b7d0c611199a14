import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** A recipient of an email of its own, in the hands of a sender. Its addresses were checked when it was accepted. */
export const ClaimedRecipient = Schema.Struct({
  id: EmailMessageId,
  /** The record of its email. */
  email_id: EmailMessageId,
  account_id: AccountId,
  recipient: Schema.toType(EmailAddress),
  attempt_count: Schema.Int,
  /** How often the relay has fallen silent after it had the whole message. */
  doubts: Schema.Int
})
export type ClaimedRecipient = typeof ClaimedRecipient.Type

/** What the copies of an email have in common, but for its parts. */
export const EmailContent = Schema.Struct({
  from_address: Schema.toType(EmailAddress),
  from_name: Schema.NullOr(Schema.String),
  reply_to_name: Schema.NullOr(Schema.String),
  reply_to_address: Schema.NullOr(Schema.toType(EmailAddress)),
  subject: Schema.String,
  message_id: Schema.String,
  is_alone: Schema.Boolean,
  track_opens: Schema.Boolean,
  /** Where its counted links lead. */
  links: Schema.Array(Schema.String),
  to: Schema.Array(Schema.toType(EmailAddress)),
  cc: Schema.Array(Schema.toType(EmailAddress)),
  created_at: Timestamp,
  /** Of the code that the texts have a mask for. */
  code_seed: Schema.NullOr(CodeSeed)
})
export type EmailContent = typeof EmailContent.Type

const EmailPart = Schema.Struct({
  kind: Schema.Literals(["html", "text", "attachment"]),
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.NullOr(Schema.String),
  content: Schema.Uint8Array
})
export type EmailPart = typeof EmailPart.Type

const hands = (held: ReadonlyArray<ClaimedRecipient>) => ({
  ids: column.int8(held.map(({ id }) => id)),
  attempts: column.int4(held.map(({ attempt_count }) => attempt_count))
})

/** SQL of the recipients of emails of their own, from node to node; outcomes are `RecipientOutcomes`. */
export const makeEmailSenderRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /**
   * Takes who is due into `sending`, in the hands of this node from then on (`due_at`). What another node claims at the
   * same time is passed over. An address that the account must no longer write to is left out for good.
   */
  const claim = SqlSchema.findAll({
    Request: Schema.Int,
    Result: ClaimedRecipient,
    execute: (limit) =>
      sql`with due as (
          select m.id, exists (select from suppressions s where s.account_id = m.account_id and s.email = lower(m.recipient))
            as is_suppressed
          from email_messages m where m.batch_id is null and m.status = 'queued' and m.due_at <= now()
          order by m.due_at, m.id limit ${limit} for update of m skip locked
        ), suppressed as (
          update email_messages m set status = 'suppressed', due_at = null, completed_at = now()
          from due where m.id = due.id and due.is_suppressed
        )
        update email_messages m set status = 'sending', due_at = now()
        from due where m.id = due.id and not due.is_suppressed
        returning m.id, coalesce(m.part_of, m.id) as email_id, m.account_id, m.recipient, m.attempt_count, m.doubts`
  })

  /**
   * Says that this node still has them; not of one that another node has taken over. One whose outcome is being written
   * at this moment needs no saying, and waiting for it could be a deadlock.
   */
  const renew = (held: ReadonlyArray<ClaimedRecipient>) => {
    const { attempts, ids } = hands(held)
    return sql`with mine as (
        select m.id from email_messages m, unnest(${ids}, ${attempts}) as t (id, attempts)
        where m.id = t.id and m.status = 'sending' and m.attempt_count = t.attempts
        for update of m skip locked
      )
      update email_messages m set due_at = now() from mine where m.id = mine.id`
  }

  /**
   * Back to the queue with what no node has said to have for `after`: each may have been sent, so it counts as an
   * attempt, which also makes whatever the node before still records about it void. One that was in doubt `most` times
   * is given up, so that nothing can make this program write to somebody for ever.
   */
  const takeOver = SqlSchema.findAll({
    Request: Schema.Struct({ after: Schema.Duration, most: Schema.Int }),
    Result: Schema.Struct({ id: EmailMessageId }),
    execute: ({ after, most }) =>
      sql`with stray as (
          select id from email_messages where batch_id is null and status = 'sending'
            and due_at <= now() - ${Duration.toMillis(after)}::float8 * interval '1 millisecond'
          order by id for update skip locked
        )
        update email_messages m set attempt_count = attempt_count + 1,
          status = case when attempt_count + 1 < ${most} then 'queued' else 'failed' end,
          error = 'interrupted before the relay had confirmed it',
          due_at = case when attempt_count + 1 < ${most} then now() end,
          completed_at = case when attempt_count + 1 < ${most} then null else now() end
        from stray where m.id = stray.id returning m.id`
  })

  const content = SqlSchema.findOneOption({
    Request: EmailMessageId,
    Result: EmailContent,
    execute: (id) =>
      sql`select m.from_address, c.from_name, c.reply_to_name, c.reply_to_address, m.subject, c.message_id,
          m.copies is null as is_alone, c.track_opens, coalesce(m.links, '{}') as links, c.created_at, c.code_seed,
          r."to", r.cc
        from email_contents c join email_messages m on m.id = c.id, lateral (
          select coalesce(array_agg(p.recipient order by p.position) filter (where p.kind = 'to'), '{}') as "to",
            coalesce(array_agg(p.recipient order by p.position) filter (where p.kind = 'cc'), '{}') as cc
          from email_messages p where p.id = c.id or p.part_of = c.id
        ) r where c.id = ${id}`
  })

  const parts = SqlSchema.findAll({
    Request: EmailMessageId,
    Result: EmailPart,
    execute: (id) =>
      sql`select kind, filename, content_type, content from email_parts where email_id = ${id} order by position`
  })

  return { claim, renew, takeOver, content, parts }
}))
