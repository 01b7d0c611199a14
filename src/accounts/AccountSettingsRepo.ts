import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import { Notifications, Profile } from "./Account.ts"
import { NotificationsChange, ProfileChange } from "./AccountApi.ts"

/** The account's new address that is not confirmed yet. */
export const pendingEmail = `(select new_email from email_changes
  where account_id = accounts.id and confirmed_at is null and expires_at > now()) as pending_email`

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const profile = sql.literal(`name, email, ${pendingEmail}, timezone, locale`)
  const toggles = sql.literal(Object.keys(Notifications.fields).join(", "))

  const update = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, change: Schema.toType(ProfileChange) }),
    Result: Profile,
    execute: ({ accountId, change: { locale, name, timezone } }) =>
      sql`update accounts set name = coalesce(${name ?? null}::text, name),
          timezone = coalesce(${timezone ?? null}::text, timezone), locale = coalesce(${locale ?? null}::text, locale)
        where id = ${accountId} returning ${profile}`
  })

  const credentials = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ name: Schema.String, email: Schema.String, password_hash: Schema.NullOr(Schema.String) }),
    execute: (id) => sql`select name, email, password_hash from accounts where id = ${id}`
  })

  const setPassword = (password: { readonly accountId: AccountId; readonly hash: Redacted.Redacted }) =>
    Query.run(
      sql`update accounts set password_hash = ${Redacted.value(password.hash)} where id = ${password.accountId}`
    )

  const notifications = Query.findOne({
    Request: AccountId,
    Result: Notifications,
    execute: (id) => sql`select ${toggles} from accounts where id = ${id}`
  })

  const changeNotifications = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, change: NotificationsChange }),
    Result: Notifications,
    execute: ({ accountId, change }) =>
      sql`update accounts set email_alerts = coalesce(${change.email_alerts ?? null}::boolean, email_alerts),
          usage_warnings = coalesce(${change.usage_warnings ?? null}::boolean, usage_warnings),
          weekly_digest = coalesce(${change.weekly_digest ?? null}::boolean, weekly_digest),
          security_alerts = coalesce(${change.security_alerts ?? null}::boolean, security_alerts),
          marketing_emails = coalesce(${change.marketing_emails ?? null}::boolean, marketing_emails),
          -- A digest that is switched on again starts with the current week.
          digest_week = case when coalesce(${change.weekly_digest ?? null}::boolean, weekly_digest) then digest_week end
        where id = ${accountId} returning ${toggles}`
  })

  return { update, credentials, setPassword, notifications, changeNotifications }
})

/** SQL of the settings in `accounts`. */
export class AccountSettingsRepo
  extends Context.Service<AccountSettingsRepo>()("messaging-service/accounts/AccountSettingsRepo", { make })
{
  static readonly layer = Layer.effect(AccountSettingsRepo, make)
}
