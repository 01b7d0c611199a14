import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { windowFields } from "../../../values/Page.ts"
import { Suppression, SuppressionReason } from "./Suppression.ts"

/** A message that its recipient's mail server refused. */
export interface Refusal {
  readonly id: EmailMessageId
  readonly accountId: AccountId
  readonly to: string
  /** `now` if the address does not exist; `repeated` if a second refusal within 30 days suppresses it. */
  readonly suppress: "never" | "repeated" | "now"
}

const One = Schema.Struct({ accountId: AccountId, email: Schema.String })

const Filter = Schema.Struct({
  accountId: AccountId,
  email: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(SuppressionReason),
  ...windowFields
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columns = sql.literal("email, reason, source_message_id, created_at")

  const matching = ({ accountId, email, reason }: typeof Filter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId}`,
      ...(email === null ? [] : [sql`email = lower(${email})`]),
      ...(reason === null ? [] : [sql`reason = ${reason}`])
    ])

  /** The first condition is the range of the index. */
  const behind = ({ after }: typeof Filter.Encoded) =>
    after === null
      ? sql`true`
      : sql`created_at <= ${after[0]}::timestamptz
        and (created_at < ${after[0]}::timestamptz or email > ${after[1]}::text)`

  const list = Query.findAll({
    Request: Filter,
    Result: Suppression,
    execute: (filter) =>
      sql`select ${columns} from suppressions where ${matching(filter)} and ${behind(filter)}
        order by created_at desc, email limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from suppressions where ${matching(filter)}`)
  })

  const find = Query.findOneOption({
    Request: One,
    Result: Suppression,
    execute: ({ accountId, email }) =>
      sql`select ${columns} from suppressions where account_id = ${accountId} and email = lower(${email})`
  })

  const among = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, emails: Schema.Array(Schema.String) }),
    Result: Schema.Struct({ email: Schema.String }),
    execute: ({ accountId, emails }) =>
      sql`select email from suppressions where account_id = ${accountId}
        and email in (select lower(t.email) from unnest(${column.text(emails)}) as t (email)) order by email`
  })

  /** Adds a manual suppression, or returns the existing one. The no-op update makes PostgreSQL return it too. */
  const add = Query.findOne({
    Request: One,
    Result: Suppression,
    execute: ({ accountId, email }) =>
      sql`insert into suppressions (account_id, email, reason) values (${accountId}, lower(${email}), 'manual')
        on conflict (account_id, email) do update set reason = suppressions.reason returning ${columns}`
  })

  const addMany = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, emails: Schema.Array(Schema.String) }),
    Result: Schema.Struct({ added: Schema.Int, existing: Schema.Int }),
    execute: ({ accountId, emails }) =>
      sql`with given as (
          select distinct lower(email) as email from unnest(${column.text(emails)}) as t (email)
        ), added as (
          insert into suppressions (account_id, email, reason)
          select ${accountId}::bigint, email, 'manual' from given order by email on conflict do nothing returning email
        )
        select a.added, g.given - a.added as existing
        from (select count(*)::int as added from added) a, (select count(*)::int as given from given) g`
  })

  /** Deletes a suppression unless it is a complaint, and returns the reason that it had. */
  const remove = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ reason: SuppressionReason }),
    execute: ({ accountId, email }) =>
      sql`with found as (
          select account_id, email, reason from suppressions
          where account_id = ${accountId} and email = lower(${email}) for update
        ), gone as (
          delete from suppressions s using found f
          where s.account_id = f.account_id and s.email = f.email and f.reason <> 'complaint'
        )
        select reason from found`
  })

  /**
   * Suppresses addresses that do not exist, and addresses that refused two messages without a reason within 30 days. An
   * account that was removed meanwhile suppresses nothing.
   */
  const bounced = (refusals: ReadonlyArray<Refusal>) => {
    const refused = refusals.filter(({ suppress }) => suppress !== "never")
    if (refused.length === 0) return Effect.void
    return Query.run(sql`with refused as (
        select t.account_id, lower(t.email) as email, t.id, t.plain from unnest(
          ${column.int8(refused.map(({ accountId }) => accountId))}, ${column.text(refused.map(({ to }) => to))},
          ${column.int8(refused.map(({ id }) => id))}, ${
      column.bool(refused.map(({ suppress }) => suppress === "repeated"))
    }
        ) as t (account_id, email, id, plain) join accounts a on a.id = t.account_id
      ), remembered as (
        insert into plain_refusals (account_id, email, message_id)
        select account_id, email, id from refused where plain order by account_id, email, id on conflict do nothing
      )
      insert into suppressions (account_id, email, reason, source_message_id)
      select distinct on (account_id, email) account_id, email, 'bounce', id from refused t
      where not plain
        or exists (select from plain_refusals p where p.account_id = t.account_id and p.email = t.email
          and p.message_id <> t.id and p.refused_at > now() - interval '30 days')
        or exists (select from refused o where o.account_id = t.account_id and o.email = t.email and o.id <> t.id)
      order by account_id, email, id on conflict do nothing`)
  }

  /**
   * Suppresses an address after a complaint. This reason replaces every other one: accounts can delete those, and then
   * could email someone who had complained.
   */
  const complained = ({ accountId, id, to }: Omit<Refusal, "suppress">) =>
    Query.run(sql`insert into suppressions (account_id, email, reason, source_message_id)
      select id, lower(${to}), 'complaint', ${id}::bigint from accounts where id = ${accountId}
      on conflict (account_id, email) do update set reason = 'complaint', source_message_id = excluded.source_message_id
      where suppressions.reason <> 'complaint'`)

  const recipientOf = Query.findOneOption({
    Request: EmailMessageId,
    Result: Schema.Struct({ recipient: Schema.String }),
    execute: (id) => sql`select recipient from email_messages where id = ${id}`
  })

  /** Suppresses the recipient of a message. */
  const unsubscribe = (id: EmailMessageId) =>
    Query.run(sql`insert into suppressions (account_id, email, reason, source_message_id)
      select account_id, lower(recipient), 'unsubscribe', id from email_messages where id = ${id}
      on conflict do nothing`)

  return { list, count, find, among, add, addMany, remove, bounced, complained, recipientOf, unsubscribe }
})

/** SQL of `suppressions`. Addresses are compared in lower case. */
export class SuppressionsRepo
  extends Context.Service<SuppressionsRepo>()("messaging-service/channels/email/suppressions/SuppressionsRepo", {
    make
  })
{
  static readonly layer = Layer.effect(SuppressionsRepo, make)
}
