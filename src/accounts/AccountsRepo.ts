import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import { shadowOf } from "../values/TestMode.ts"
import { Account } from "./Account.ts"
import { pendingEmail } from "./AccountSettingsRepo.ts"

const NewAccount = Schema.Struct({
  name: Schema.String,
  email: Schema.String,
  password_hash: Schema.NullOr(Schema.String),
  plan: Plan,
  trial: Schema.Boolean,
  awaits_confirmation: Schema.Boolean,
  timezone: Schema.String,
  locale: Schema.String
})

/** Days that an account's messages and their texts are kept, where they are fewer than the settings say. */
const RetentionDays = Schema.Struct({ messageDays: Schema.NullOr(Schema.Int), contentDays: Schema.NullOr(Schema.Int) })
export type RetentionDays = typeof RetentionDays.Type

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(`id, name, email, ${pendingEmail}, plan, trial_ends_at, timezone, locale, created_at,
    case when trial_ends_at is null then 'active' when trial_ends_at > now() then 'trial' else 'trial_over' end as status`)

  /** Nothing if the address is taken, or if an account can still restore it. */
  const insert = Query.findOneOption({
    Request: NewAccount,
    Result: Account,
    execute: (row) =>
      sql`insert into accounts (name, email, password_hash, plan, trial_ends_at, timezone, locale,
          awaits_confirmation)
        select ${row.name}, ${row.email}, ${row.password_hash}, ${row.plan},
          case when ${row.trial}::boolean then now() + interval '3 days' end, ${row.timezone}, ${row.locale},
          ${row.awaits_confirmation}::boolean
        where not exists (select from email_changes where lower(old_email) = lower(${row.email}) and expires_at > now())
        on conflict (lower(email)) do nothing
        returning ${columns}`
  })

  /** Lowers what was typed as LoginGuesses counts it: a database lowers some letters to ASCII, such as `İ`. */
  const findByEmail = Query.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ ...Account.fields, password_hash: Schema.NullOr(Schema.String) }),
    execute: (email) =>
      sql`select ${columns}, password_hash from accounts
        where lower(email) = ${email.toLowerCase()} and deleted_at is null and shadow_of is null`
  })

  const find = Query.findOneOption({
    Request: AccountId,
    Result: Account,
    execute: (id) => sql`select ${columns} from accounts where id = ${id} and deleted_at is null`
  })

  const list = Query.findAll({
    Request: Schema.Void,
    Result: Account,
    execute: () => sql`select ${columns} from accounts where deleted_at is null and shadow_of is null order by id`
  })

  /** A chosen plan ends the trial, and the operator vouches for the address. */
  const setPlan = Query.findOneOption({
    Request: Schema.Struct({ id: AccountId, plan: Plan }),
    Result: Account,
    execute: ({ id, plan }) =>
      sql`update accounts set plan = ${plan}, trial_ends_at = null, awaits_confirmation = false
        where id = ${id} and deleted_at is null and shadow_of is null returning ${columns}`
  })

  /** Null is the operator's setting. */
  const setRetention = Query.findOneOption({
    Request: Schema.Struct({ id: AccountId, ...RetentionDays.fields }),
    Result: Schema.Struct({ id: AccountId }),
    execute: ({ contentDays, id, messageDays }) =>
      sql`update accounts set message_retention_days = ${messageDays}::smallint,
          content_retention_days = ${contentDays}::smallint
        where id = ${id} and deleted_at is null and shadow_of is null returning id`
  })

  /** Gives the shadow account what its owner has. Call it after a change, in the same transaction. */
  const copyToShadow = (id: AccountId) =>
    Query.run(sql`update accounts s set plan = o.plan, trial_ends_at = o.trial_ends_at,
        message_retention_days = o.message_retention_days, content_retention_days = o.content_retention_days
      from accounts o where o.id = ${id} and s.id = ${shadowOf(id)} and s.shadow_of = o.id`)

  return { insert, findByEmail, find, list, setPlan, setRetention, copyToShadow }
})

/** SQL of `accounts`. */
export class AccountsRepo extends Context.Service<AccountsRepo>()("messaging-service/accounts/AccountsRepo", { make }) {
  static readonly layer = Layer.effect(AccountsRepo, make)
}
