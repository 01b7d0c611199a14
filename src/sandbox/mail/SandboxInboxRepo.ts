import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column as typed } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import type { AccountId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import type { MailCondition } from "./MailFilter.ts"

/** A mail of the inbox as lists show it. */
export const SandboxMailSummary = Schema.Struct({
  id: Schema.Int,
  /** The decoded From header: `Name <address>`. */
  from: Schema.String,
  to: Schema.String,
  subject: Schema.String,
  received_at: Timestamp,
  /** Whether a person opened its page. */
  read: Schema.Boolean,
  attachment_count: Schema.Int
})
export type SandboxMailSummary = typeof SandboxMailSummary.Type

/** A mail of the inbox with the bytes that the server received. */
export const SandboxMail = Schema.Struct({
  ...SandboxMailSummary.fields,
  envelope_from: Schema.String,
  raw: Schema.Uint8Array
})
export type SandboxMail = typeof SandboxMail.Type

/** A mail to one recipient, to be stored. */
export interface NewMail {
  readonly account: AccountId | null
  readonly envelopeFrom: string
  readonly recipient: string
  readonly sender: string
  readonly subject: string
  /** What a search finds, in lower case. */
  readonly search: string
  readonly attachmentCount: number
  readonly raw: Uint8Array
}

interface Window {
  readonly conditions: ReadonlyArray<MailCondition>
  readonly limit: number
  readonly offset: number
}

const Total = Schema.Struct({ total: Schema.Int, unread: Schema.Int })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = {
    from: sql`lower(sender)`,
    subject: sql`lower(subject)`,
    any: sql`lower(concat_ws(' ', sender, recipient, subject, search))`
  } as const
  const marks = {
    read: sql`read_at is not null`,
    unread: sql`read_at is null`,
    attachment: sql`attachment_count > 0`
  } as const

  // An index finds a whole address. All other conditions scan the rows, which are few.
  const clause = (condition: MailCondition) => {
    if ("mark" in condition) return marks[condition.mark]
    const { field, text } = condition
    if (field !== "to") return sql`position(${text} in ${columns[field]}) > 0`
    return /.@./.test(text)
      ? sql`lower(recipient) = ${text}`
      : sql`position(${text} in lower(recipient)) > 0`
  }
  const matching = (conditions: ReadonlyArray<MailCondition>) => sql.and([sql`true`, ...conditions.map(clause)])

  const summary = sql`id, sender as "from", recipient as "to", subject, received_at, read_at is not null as read,
    attachment_count`

  const page = ({ conditions, limit, offset }: Window) =>
    Query.findAll({
      Request: Schema.Void,
      Result: SandboxMailSummary,
      execute: () =>
        sql`
        select ${summary} from sandbox_mails where ${matching(conditions)}
        order by id desc limit ${limit} offset ${offset}
      `
    })()

  const total = (conditions: ReadonlyArray<MailCondition>) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Total,
      execute: () =>
        sql`select count(*) as total, count(*) filter (where read_at is null) as unread
          from sandbox_mails where ${matching(conditions)}`
    })()

  /** Deletes the mails that meet all conditions, and returns their ids. */
  const remove = (conditions: ReadonlyArray<MailCondition>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.Int }),
      execute: () => sql`delete from sandbox_mails where ${matching(conditions)} returning id`
    })()

  const removeOne = Query.findAll({
    Request: Schema.Int,
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (id) => sql`delete from sandbox_mails where id = ${id} returning id`
  })

  const markRead = (id: number) =>
    Query.run(sql`update sandbox_mails set read_at = now() where id = ${id} and read_at is null`)

  const markAllRead = Query.run(sql`update sandbox_mails set read_at = now() where read_at is null`)

  const get = Query.findOneOption({
    Request: Schema.Int,
    Result: SandboxMail,
    execute: (id) =>
      sql`
        select ${summary}, envelope_from, raw from sandbox_mails where id = ${id}
      `
  })

  const insert = (mails: ReadonlyArray<NewMail>) => {
    const column = <A>(of: (mail: NewMail) => A) => mails.map(of)
    return Query.run(sql`
      insert into sandbox_mails (envelope_from, recipient, sender, subject, search, attachment_count, raw,
        account_id)
      select * from unnest(
        ${column((mail) => mail.envelopeFrom)}::text[], ${column((mail) => mail.recipient)}::text[],
        ${column((mail) => mail.sender)}::text[], ${column((mail) => mail.subject)}::text[],
        ${column((mail) => mail.search)}::text[], ${column((mail) => mail.attachmentCount)}::integer[],
        ${column((mail) => mail.raw)}::bytea[], ${typed.int8(mails.map((mail) => mail.account))}
      )
    `)
  }

  /** Deletes all but the newest mails. */
  const prune = (keep: number) =>
    Query.run(sql`
      delete from sandbox_mails
      where id <= (select id from sandbox_mails order by id desc offset ${keep} limit 1)
    `)

  /**
   * Deletes the oldest mails of each test account above its share, and the oldest of all above the total. It skips rows that
   * another statement deletes, so it cannot deadlock.
   */
  const pruneBytes = ({ share, total }: { readonly share: number; readonly total: number }) =>
    Query.run(sql`
      delete from sandbox_mails where id in (
        select id from sandbox_mails where id in (
          select id from (
            select id, account_id, sum(octet_length(raw)) over (order by id desc) as of_all,
              sum(octet_length(raw)) over (partition by account_id order by id desc) as of_account
            from sandbox_mails) sizes
          where of_all > ${total} or (account_id is not null and of_account > ${share}))
        order by id for update skip locked)
    `)

  return { page, total, get, insert, prune, pruneBytes, remove, removeOne, markRead, markAllRead }
})

/** SQL of `sandbox_mails`. */
export class SandboxInboxRepo extends Context.Service<SandboxInboxRepo>()(
  "messaging-service/sandbox/mail/SandboxInboxRepo",
  { make }
) {
  static readonly layer = Layer.effect(SandboxInboxRepo, make)
}
