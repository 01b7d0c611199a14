import type { AccountId } from "../../values/Ids.ts"
import type { Notice } from "./Notice.ts"

const ifNotYou =
  "If this was not you, set another password now (POST /v1/auth/password/forgot). Then check your API keys "
  + "(GET /v1/api-keys) and revoke those that you do not recognise."

/** For a password change with the previous password. `base` is the address of this service. */
export const passwordChangedNotice = (accountId: AccountId, base: string): Notice => ({
  accountId,
  kind: "password_changed",
  subject: "Your password was changed",
  body: "The password of your account was changed. Logins, sign-ins to the console and API keys stay valid.\n\n"
    + "See who is logged in, and in which browsers you are signed in, with your key or a login:\n"
    + `GET ${base}/v1/account/sessions\nGET ${base}/v1/account/sign-ins\n`
    + "End all other logins, and all sign-ins:\n"
    + `DELETE ${base}/v1/account/sessions\nDELETE ${base}/v1/account/sign-ins\n\n${ifNotYou}`
})

/** For a password set with a token from a mail, which confirmed the address unless it was confirmed before. */
export const passwordResetNotice = (accountId: AccountId, wasUnconfirmed: boolean): Notice => {
  const ended = wasUnconfirmed
    ? "This confirmed the address, so all login sessions, API keys and second factors from before were ended."
    : "All login sessions were ended; API keys stay valid."
  return {
    accountId,
    kind: "password_changed",
    subject: "Your password was reset",
    body: `The password of your account was set with a token that was mailed to this address. ${ended}\n\n${ifNotYou}`
  }
}

const addedFactors = {
  passkey: "A passkey was added to your account. Who has it signs in to the console without your password.",
  authenticator: "An authenticator app was added to your account. Its codes are asked for when you sign in.",
  recovery_codes: "New recovery codes were made for your account. Each of them replaces a second factor once."
} as const

/** For a new way to sign in. A thief who adds one would switch this notice off first. */
export const factorAddedNotice = (accountId: AccountId, factor: keyof typeof addedFactors): Notice => ({
  accountId,
  kind: "second_factor_added",
  subject: "Your account has a new way to sign in",
  body: `${addedFactors[factor]}\n\nIf this was not you, sign in to the console, open Security and remove it. Then set `
    + "another password, end all other sign-ins, check your API keys (GET /v1/api-keys) and revoke those that you do not "
    + "recognise."
})

/** For five wrong passwords from one network. The account follows from the address that was typed. */
export const passwordsGuessedNotice = (network: string) => ({
  kind: "passwords_guessed",
  once: "login",
  subject: "Wrong passwords were entered for your account",
  body:
    `Five wrong passwords were entered for your account from the network ${network}. Logins from there pause now, each `
    + "time for longer. You can still log in from elsewhere.\n\nIf this was you, wait, or set another password "
    + "(POST /v1/auth/password/forgot), which ends the pause. If it was not, make sure that your password is used nowhere "
    + "else, and add a second factor: sign in to the console and open Security."
} as const)

/** Contains the token that sets a new password. */
export const passwordTokenNotice = (accountId: AccountId, token: string, link: string | undefined): Notice => ({
  accountId,
  kind: "password_reset",
  subject: "Set a new password",
  body:
    "A password reset was requested for your account. Set a new password with this token, once and within an hour:\n\n"
    + `${link ?? token}\n\n`
    + "POST /v1/auth/password/reset\n"
    + `{"token": "${token}", "password": "…", "password_confirmation": "…"}\n\n`
    + "If this was not you, ignore this mail: without the token the password does not change."
})

/** Contains the link that proves that the owner reads this mail. */
export const addressConfirmationNotice = (accountId: AccountId, link: string): Notice => ({
  accountId,
  kind: "address_confirmation",
  subject: "Confirm your email address",
  body: "An account was registered with this email address. Until the address is confirmed, the account sends nothing. "
    + "If it was you, confirm it within three days:\n\n"
    + `${link}\n\n`
    + "If it was not you, ignore this mail."
})

/** A mail to an address that the account does not have, with a link that contains a token. */
export interface LinkMail {
  readonly accountId: AccountId
  readonly recipient: string
  readonly link: string
}

/** Goes to the new address, which may belong to a stranger. */
export const emailConfirmationNotice = ({ link, ...to }: LinkMail): Notice => ({
  ...to,
  kind: "email_change_requested",
  subject: "Confirm your new email address",
  body: "An account of this service asked to use this email address. Confirm it within 24 hours:\n\n"
    + `${link}\n\n`
    + "If this was not you, ignore this mail: without the confirmation the account keeps its address."
})

/** Goes to the previous address, because the new one may belong to a thief. */
export const emailChangedNotice = ({ link, ...to }: LinkMail): Notice => ({
  ...to,
  kind: "email_changed",
  subject: "The email address of your account was changed",
  body: "Your account now has another email address instead of this one. Mails about the account go there "
    + "from now on.\n\nIf this was not you, restore this address within 7 days:\n\n"
    + `${link}\n\n`
    + "That ends all login sessions, removes passkeys, the authenticator app and recovery codes, and you set a new "
    + "password. Then check your API keys (GET /v1/api-keys) and revoke those that you do not recognise."
})

/** Goes to the address that the account had until the owner of an earlier one took it back. */
export const emailRestoredNotice = (accountId: AccountId, recipient: string): Notice => ({
  accountId,
  recipient,
  kind: "email_changed",
  subject: "The email address of your account was restored",
  body:
    "The change to this email address was undone from the previous one. The account has its previous address again. "
    + "All login sessions were ended, and the password, passkeys, the authenticator app and recovery codes no longer "
    + "work.\n\n"
    + "If this was your account, talk to the person who reads the previous address, or to the operator of this service."
})
