import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import type { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import type { Suppress } from "../smtp/classifyReply.ts"

/** A message that came to nothing, and what that says about its address. */
export interface Refusal {
  readonly id: EmailMessageId
  readonly accountId: AccountId
  readonly to: string
  readonly suppress: Suppress
}

/** SQL of what bounces and complaints do to addresses. An account that was removed meanwhile suppresses nothing. */
export const makeSuppressionsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /**
   * Suppresses addresses that are gone, and those that were refused without a reason for the second time: by another
   * message, within 30 days.
   */
  const bounced = (refusals: ReadonlyArray<Refusal>) => {
    const told = refusals.filter(({ suppress }) => suppress !== "never")
    if (told.length === 0) return Effect.void
    return Effect.asVoid(sql`with told as (
        select t.account_id, lower(t.email) as email, t.id, t.plain from unnest(
          ${column.int8(told.map(({ accountId }) => accountId))}, ${column.text(told.map(({ to }) => to))},
          ${column.int8(told.map(({ id }) => id))}, ${column.bool(told.map(({ suppress }) => suppress === "repeated"))}
        ) as t (account_id, email, id, plain) join accounts a on a.id = t.account_id
      ), noted as (
        insert into plain_refusals (account_id, email, message_id)
        select account_id, email, id from told where plain order by account_id, email, id on conflict do nothing
      )
      insert into suppressions (account_id, email, reason, source_message_id)
      select distinct on (account_id, email) account_id, email, 'bounce', id from told t
      where not plain
        or exists (select from plain_refusals p where p.account_id = t.account_id and p.email = t.email
          and p.message_id <> t.id and p.refused_at > now() - interval '30 days')
        or exists (select from told o where o.account_id = t.account_id and o.email = t.email and o.id <> t.id)
      order by account_id, email, id on conflict do nothing`)
  }

  /**
   * Whoever complained is not written to again. This reason takes the place of every other one, as accounts can delete
   * those: else who first left and then complained could be written to once more.
   */
  const complained = ({ accountId, id, to }: Omit<Refusal, "suppress">) =>
    Effect.asVoid(sql`insert into suppressions (account_id, email, reason, source_message_id)
      select id, lower(${to}), 'complaint', ${id}::bigint from accounts where id = ${accountId}
      on conflict (account_id, email) do update set reason = 'complaint', source_message_id = excluded.source_message_id
      where suppressions.reason <> 'complaint'`)

  return { bounced, complained }
}))
