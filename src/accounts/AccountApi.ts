import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { Data, Nothing } from "../values/Envelope.ts"
import { Locale } from "../values/Locale.ts"
import { lineBetween, Text, textBetween } from "../values/Text.ts"
import { Timezone } from "../values/Timezone.ts"
import { Account, Notifications, Profile } from "./Account.ts"
import { EmailTaken } from "./AccountErrors.ts"

/** A password that is to be set: any text, long enough. */
export const NewPassword = textBetween(12, 128)

/** What is left out stays as it is. */
export const ProfileChange = Schema.Struct({
  name: Schema.optionalKey(lineBetween(1, 200)),
  email: Schema.optionalKey(EmailAddress),
  timezone: Schema.optionalKey(Timezone),
  locale: Schema.optionalKey(Locale)
})
export type ProfileChange = typeof ProfileChange.Type

export const PasswordChange = Schema.Struct({
  current_password: textBetween(1, 128),
  password: NewPassword,
  password_confirmation: textBetween(1, 128)
})
export type PasswordChange = typeof PasswordChange.Type

/** What is left out stays as it is. */
export const NotificationsChange = Schema.Struct(Struct.map(Notifications.fields, Schema.optionalKey))
export type NotificationsChange = typeof NotificationsChange.Type

const read = HttpApiEndpoint.get("read", "/", { success: Data(Account) })
  .annotate(Access.Access, Access.channel(["account:read"], "account:read"))
  .annotateMerge(OpenApi.annotations({ summary: "Read the account", description: "Profile, plan and trial." }))

const profile = HttpApiEndpoint.put("profile", "/profile", {
  payload: ProfileChange,
  success: Data(Profile),
  error: apiErrors(EmailTaken)
}).annotate(Access.Access, Access.full("account:write")).annotateMerge(OpenApi.annotations({
  summary: "Change the profile",
  description: "What is left out stays. Another email address holds at once; the one before is told."
}))

const password = HttpApiEndpoint.put("password", "/password", {
  payload: PasswordChange,
  success: Nothing,
  error: apiErrors(ValidationFailed, RateLimitExceeded)
}).annotate(Access.Access, Access.full("account:write")).annotateMerge(OpenApi.annotations({
  summary: "Change the password",
  description: "Login sessions and keys stay as they are. The owner gets a mail."
}))

const notifications = HttpApiEndpoint.get("notifications", "/notifications", { success: Data(Notifications) })
  .annotate(Access.Access, Access.full("account:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read which mails are wanted",
    description: "The mails of the service itself to the owner of the account."
  }))

const changeNotifications = HttpApiEndpoint.put("changeNotifications", "/notifications", {
  payload: NotificationsChange,
  success: Data(Notifications)
}).annotate(Access.Access, Access.full("account:write")).annotateMerge(OpenApi.annotations({
  summary: "Choose which mails are wanted",
  description: "What is left out stays. Mails about the password and the email address always come."
}))

const remove = HttpApiEndpoint.delete("remove", "/", {
  payload: Schema.Struct({ confirmation: Text.annotate({ description: "The word DELETE" }) }),
  success: Nothing,
  error: apiErrors(ValidationFailed)
}).annotate(Access.Access, Access.full("account:write")).annotateMerge(OpenApi.annotations({
  summary: "Delete the account",
  description:
    "Irreversible. From this answer on its keys and login sessions are refused and nothing more is sent; everything that belongs to it is erased soon after. Its email address is free at once."
}))

/** The account of whoever asks (spec 2.8, 4.7). */
export class AccountApi extends HttpApiGroup.make("account")
  .add(read, profile, password, notifications, changeNotifications, remove)
  .prefix("/v1/account")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Account" }))
{}
