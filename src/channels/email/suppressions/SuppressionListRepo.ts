import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { repository } from "../../../platform/database/repository.ts"
import { AccountId } from "../../../values/Ids.ts"
import { Suppression, SuppressionReason } from "./Suppression.ts"

const One = Schema.Struct({ accountId: AccountId, email: Schema.String })

const Filter = Schema.Struct({
  accountId: AccountId,
  email: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(SuppressionReason),
  limit: Schema.Int,
  offset: Schema.Int
})

/** SQL of `suppressions` as an account manages them. Addresses are compared in lower case, as sending compares them. */
export const makeSuppressionListRepo = repository(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal("email, reason, source_message_id, created_at")

  const matching = ({ accountId, email, reason }: typeof Filter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId}`,
      ...(email === null ? [] : [sql`email = lower(${email})`]),
      ...(reason === null ? [] : [sql`reason = ${reason}`])
    ])

  const list = SqlSchema.findAll({
    Request: Filter,
    Result: Suppression,
    execute: (filter) =>
      sql`select ${columns} from suppressions where ${matching(filter)}
        order by created_at desc, email limit ${filter.limit} offset ${filter.offset}`
  })

  const count = SqlSchema.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from suppressions where ${matching(filter)}`
  })

  const find = SqlSchema.findOneOption({
    Request: One,
    Result: Suppression,
    execute: ({ accountId, email }) =>
      sql`select ${columns} from suppressions where account_id = ${accountId} and email = lower(${email})`
  })

  /**
   * Adds what is not there and answers what then is. The update writes what stands there already: it changes nothing,
   * and makes PostgreSQL give back the row also where somebody else added it in the same moment.
   */
  const add = SqlSchema.findOne({
    Request: One,
    Result: Suppression,
    execute: ({ accountId, email }) =>
      sql`insert into suppressions (account_id, email, reason) values (${accountId}, lower(${email}), 'manual')
        on conflict (account_id, email) do update set reason = suppressions.reason returning ${columns}`
  })

  /** Deletes one that is no complaint, and answers the reason of the one that was there. */
  const remove = SqlSchema.findOneOption({
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

  return { list, count, find, add, remove }
}))
