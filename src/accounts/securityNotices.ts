import type { AccountId } from "../values/Ids.ts"
import type { Notice } from "./Notice.ts"

const ifNotYou =
  "If this was not you, set another password now (POST /v1/auth/password/forgot). Then check your API keys "
  + "(GET /v1/api-keys) and revoke those that you do not recognise."

/** For a password change with the previous password. `base` is the address of this service. */
export const passwordChangedNotice = (accountId: AccountId, base: string): Notice => ({
  accountId,
  kind: "password_changed",
  subject: "Your password was changed",
  body: "The password of your account was changed. Login sessions and API keys stay valid.\n\n"
    + `See who is logged in, with your key or a login:\nGET ${base}/v1/account/sessions\n`
    + `End all other logins:\nDELETE ${base}/v1/account/sessions\n\n${ifNotYou}`
})

/** For a password set with a token from a mail. */
export const passwordResetNotice = (accountId: AccountId): Notice => ({
  accountId,
  kind: "password_changed",
  subject: "Your password was reset",
  body: "The password of your account was set with a token that was mailed to this address. All login sessions were "
    + `ended; API keys stay valid.\n\n${ifNotYou}`
})

/** Contains the token that sets a new password. */
export const passwordTokenNotice = (accountId: AccountId, token: string): Notice => ({
  accountId,
  kind: "password_reset",
  subject: "Set a new password",
  body:
    "A password reset was requested for your account. Set a new password with this token, once and within an hour:\n\n"
    + `${token}\n\n`
    + "POST /v1/auth/password/reset\n"
    + `{"token": "${token}", "password": "…", "password_confirmation": "…"}\n\n`
    + "If this was not you, ignore this mail: without the token the password does not change."
})

/** Goes to the previous address, because the new one may belong to a thief. */
export const emailChangedNotice = (accountId: AccountId, recipient: string): Notice => ({
  accountId,
  kind: "email_changed",
  recipient,
  subject: "The email address of your account was changed",
  body: "Your account now has another email address instead of this one. Mails about the account go there "
    + "from now on.\n\nIf this was not you, tell the operator of this service at once."
})
