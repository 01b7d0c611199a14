import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { LoginSessionId, pathId } from "../values/Ids.ts"
import { Locale, Timezone } from "../values/Locale.ts"
import { Data, Nothing } from "../values/Page.ts"
import { lineBetween, Text, textBetween } from "../values/Text.ts"
import { Account, LoginSession, Notifications, Profile } from "./Account.ts"
import { EmailChangeLimit, EmailTaken } from "./AccountErrors.ts"

/** A new password of sufficient length; {@link passwordFault} checks its strength. */
export const NewPassword = textBetween(12, 128)

/** Absent fields keep their value. */
export const ProfileChange = Schema.Struct({
  name: Schema.optionalKey(lineBetween(1, 200)),
  email: Schema.optionalKey(EmailAddress),
  timezone: Schema.optionalKey(Timezone),
  locale: Schema.optionalKey(Locale)
}).annotate({ identifier: "ProfileChange" })
export type ProfileChange = typeof ProfileChange.Type

export const PasswordChange = Schema.Struct({
  current_password: textBetween(1, 128).annotate({
    description: "An account without a password gets its first one with POST /v1/auth/password/forgot"
  }),
  password: NewPassword,
  password_confirmation: textBetween(1, 128)
}).annotate({ identifier: "PasswordChange" })
export type PasswordChange = typeof PasswordChange.Type

/** Absent fields keep their value. */
export const NotificationsChange = Schema.Struct(Struct.map(Notifications.fields, Schema.optionalKey)).annotate({
  identifier: "NotificationSettingsChange"
})
export type NotificationsChange = typeof NotificationsChange.Type

/** A test key changes nothing of its owner. */
const live = { mode: "live" } as const

const read = HttpApiEndpoint.get("read", "/", { success: Data(Account) })
  .annotate(Access.Access, Access.channel(["account:read"], "account:read"))
  .annotateMerge(OpenApi.annotations({ summary: "Read the account", description: "Profile, plan and trial." }))

const profile = HttpApiEndpoint.put("profile", "/profile", {
  payload: ProfileChange,
  success: Data(Profile),
  error: apiErrors(EmailChangeLimit, EmailTaken)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "Change the profile",
  description:
    "Absent fields keep their value. A new email address is pending until a person confirms it there within 24 hours. The previous one gets a notice, and can undo the change for 7 days. The current address withdraws a pending one."
}))

const password = HttpApiEndpoint.put("password", "/password", {
  payload: PasswordChange,
  success: Nothing,
  error: apiErrors(ValidationFailed, RateLimitExceeded)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "Change the password",
  description:
    "Login sessions, sign-ins to the console and API keys stay valid. DELETE /v1/account/sessions ends other logins, and DELETE /v1/account/sign-ins all sign-ins. The owner gets a mail."
}))

const notifications = HttpApiEndpoint.get("notifications", "/notifications", { success: Data(Notifications) })
  .annotate(Access.Access, Access.full("account:read", live))
  .annotateMerge(OpenApi.annotations({
    summary: "Read the notification settings",
    description: "The mails that the service sends to the account's owner."
  }))

const changeNotifications = HttpApiEndpoint.put("changeNotifications", "/notifications", {
  payload: NotificationsChange,
  success: Data(Notifications)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "Change the notification settings",
  description: "Absent fields keep their value. Mails about the password and the email address cannot be switched off."
}))

const confirmation = Text.check(
  Schema.makeFilter(
    (text: string) => text === "DELETE" ? undefined : "must be the word DELETE in capital letters",
    { toJsonSchema: () => ({ pattern: "^DELETE$" }) }
  )
).annotate({ description: "The word DELETE" })

const remove = HttpApiEndpoint.delete("remove", "/", {
  payload: Schema.Struct({ confirmation }).annotate({ identifier: "AccountRemoval" }),
  success: Nothing,
  error: apiErrors(ValidationFailed)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "Delete the account",
  description:
    "Irreversible. Keys and login sessions are refused at once, and nothing more is sent. All data of the account is erased soon after. Its email address is free at once."
}))

const sessions = HttpApiEndpoint.get("sessions", "/sessions", { success: Data(Schema.Array(LoginSession)) })
  .annotate(Access.Access, Access.full("account:read", live))
  .annotateMerge(OpenApi.annotations({
    summary: "List login sessions",
    description: "Who is logged in, newest first: at most 100 sessions, never their tokens."
  }))

const endSession = HttpApiEndpoint.delete("endSession", "/sessions/:id", {
  params: { id: pathId(LoginSessionId) },
  success: Nothing,
  error: apiErrors(NotFound)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "End a login session",
  description: "Every node refuses its token with 401 at once. The session may be the caller's own."
}))

const endSessions = HttpApiEndpoint.delete("endSessions", "/sessions", { success: Nothing })
  .annotate(Access.Access, Access.full("account:write", live))
  .annotateMerge(OpenApi.annotations({
    summary: "End all other login sessions",
    description: "Ends every login session but the caller's own. With an API key it ends all of them."
  }))

/** The caller's account (spec 2.8, 4.7). */
export class AccountApi extends HttpApiGroup.make("account")
  .add(read, profile, password, notifications, changeNotifications, sessions, endSession, endSessions, remove)
  .prefix("/v1/account")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Account", description: "The owner's profile, password, logins and settings." })
  )
{}
