import { Schema } from "effect"
import { AccountId, LoginSessionId } from "../values/Ids.ts"
import { Locale, Timezone } from "../values/Locale.ts"
import { Plan } from "../values/Plan.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** A new address that is not confirmed yet. */
const PendingEmail = Schema.NullOr(Schema.String).annotate({
  description: "The requested new address, until it is confirmed from there, within 24 hours"
})

/** An account holder (spec 2.8). A test key reads its owner's. `status` says whether it may send: the trial lasts 3 days. */
export const Account = Schema.Struct({
  id: AccountId.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  name: Schema.String,
  email: Schema.String,
  pending_email: PendingEmail,
  plan: Plan,
  status: Schema.Literals(["active", "trial", "trial_over"]),
  trial_ends_at: Schema.NullOr(Timestamp),
  timezone: Timezone,
  locale: Locale,
  created_at: Timestamp
}).annotate({ identifier: "Account" })
export type Account = typeof Account.Type

/** The fields of the account that its owner may change (spec 2.8). */
export const Profile = Schema.Struct({
  name: Schema.String,
  email: Schema.String,
  pending_email: PendingEmail,
  timezone: Timezone,
  locale: Locale
}).annotate({ identifier: "Profile" })
export type Profile = typeof Profile.Type

/** The mails from the service that the owner wants (spec 2.8). */
export const Notifications = Schema.Struct({
  email_alerts: Schema.Boolean.annotate({ description: "A quota is used up, or a key was revoked" }),
  usage_warnings: Schema.Boolean.annotate({ description: "80 percent of a quota are used" }),
  weekly_digest: Schema.Boolean.annotate({ description: "Usage of the last week, on Mondays" }),
  security_alerts: Schema.Boolean.annotate({ description: "A key was created, or a webhook's secret was rotated" }),
  marketing_emails: Schema.Boolean.annotate({ description: "Not used yet" })
}).annotate({ identifier: "NotificationSettings" })
export type Notifications = typeof Notifications.Type

/** A login session as its owner sees it. Its token is shown at the login only. */
export const LoginSession = Schema.Struct({
  id: LoginSessionId,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Timestamp,
  client_address: Schema.NullOr(Schema.String).annotate({ description: "The address that logged in" }),
  user_agent: Schema.NullOr(Schema.String).annotate({ description: "The program that logged in, as it called itself" }),
  is_current: Schema.Boolean.annotate({ description: "Whether this request uses the session" })
}).annotate({ identifier: "LoginSession" })
export type LoginSession = typeof LoginSession.Type
