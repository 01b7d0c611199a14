import type { AccountId } from "../values/Ids.ts"
import type { Notice } from "./Notice.ts"

const ifNotYou =
  "If it was not you, set another password now (POST /v1/auth/password/forgot), then look at your API keys "
  + "and revoke those that you do not know (GET /v1/api-keys)."

/** Told when a password was changed by somebody who knew the one before. */
export const passwordChangedNotice = (accountId: AccountId): Notice => ({
  accountId,
  kind: "password_changed",
  subject: "Your password was changed",
  body: `The password of your account was changed. Login sessions and API keys stay as they are.\n\n${ifNotYou}`
})

/** Told when a password was set with a token from a mail. */
export const passwordResetNotice = (accountId: AccountId): Notice => ({
  accountId,
  kind: "password_changed",
  subject: "Your password was set anew",
  body: "The password of your account was set with a token that we had mailed to this address. All login sessions were "
    + `ended; API keys stay as they are.\n\n${ifNotYou}`
})

/** Brings the token that sets a new password. */
export const passwordTokenNotice = (accountId: AccountId, token: string): Notice => ({
  accountId,
  kind: "password_reset",
  subject: "Set a new password",
  body:
    "Somebody asked for a new password for your account. With this token you can set one, once and within an hour:\n\n"
    + `${token}\n\n`
    + "POST /v1/auth/password/reset\n"
    + `{"token": "${token}", "password": "…", "password_confirmation": "…"}\n\n`
    + "If it was not you, there is nothing to do: without this token the password stays as it is."
})

/** Told to the address that an account had, as the new one may be a thief's. */
export const emailChangedNotice = (accountId: AccountId, recipient: string): Notice => ({
  accountId,
  kind: "email_changed",
  recipient,
  subject: "The email address of your account was changed",
  body: "This address no longer belongs to your account: another one was set in its place. Mails about the account go "
    + "there from now on.\n\nIf it was not you, tell the operator of this service at once."
})
