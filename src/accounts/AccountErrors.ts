import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { pluralize } from "../values/messageText.ts"

export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}, wire(409, "email_taken", 4096)) {
  override get message() {
    return "An account with this email address exists. Log in instead."
  }
}

/** The confirmations go to addresses of strangers, until these have confirmed. */
export class EmailChangeLimit extends Schema.TaggedError<EmailChangeLimit>()(
  "EmailChangeLimit",
  { limit: Schema.Int, retry_after: Schema.Int },
  wire(429, "email_change_limit", 4297)
) {
  override get message() {
    const wait = pluralize(this.retry_after, "second")
    return `An account can ask for ${
      pluralize(this.limit, "new email address", "new email addresses")
    } an hour. Try again in ${wait}.`
  }
}

/** Identical, and equally slow, for an unknown address and a wrong password, so that it reveals no accounts. */
export class InvalidCredentials extends Schema.TaggedError<InvalidCredentials>()(
  "InvalidCredentials",
  {},
  wire(401, "invalid_credentials", 4014)
) {
  override get message() {
    return "The email address or the password is wrong."
  }
}

/** The password is right, and proves too little. */
export class SecondFactorRequired extends Schema.TaggedError<SecondFactorRequired>()(
  "SecondFactorRequired",
  {},
  wire(401, "second_factor_required", 4015)
) {
  override get message() {
    return "The owner has a second factor. Send the code of the authenticator app, or a recovery code, as code."
  }
}

/** The same for passwords and codes, and for an address without an account. */
export class LoginPaused extends Schema.TaggedError<LoginPaused>()(
  "LoginPaused",
  { retry_after: Schema.Int },
  wire(429, "login_paused", 4296)
) {
  override get message() {
    const wait = pluralize(this.retry_after, "second")
    return `Too many wrong passwords or codes were entered. Try again in ${wait}.`
  }
}

export class RegistrationClosed extends Schema.TaggedError<RegistrationClosed>()(
  "RegistrationClosed",
  {},
  wire(403, "registration_closed", 4032)
) {
  override get message() {
    return "Registration is closed. Ask the operator for an account."
  }
}

/** Nothing of the request is accepted. `current` is the used part of the `limit` of the month, or of a test key's day. */
export class EmailQuotaExceeded extends Schema.TaggedError<EmailQuotaExceeded>()(
  "EmailQuotaExceeded",
  {
    limit: Schema.Int,
    current: Schema.Int,
    resource: Schema.Literal("emails"),
    per: Schema.optionalKey(Schema.Literal("day"))
  },
  wire(402, "email_quota_exceeded", 4020)
) {
  override get message() {
    const used = pluralize(this.current, "is used", "are used")
    if (this.per === "day") {
      return `Test keys may send ${
        pluralize(this.limit, "email")
      } a day, ${used}, and this request has more recipients than that leaves. Wait for the next day (UTC).`
    }
    return `Your plan allows ${
      pluralize(this.limit, "email")
    } a month, ${used}, and this request has more recipients than that leaves. Ask the operator for a larger plan, or wait for the next month (UTC).`
  }
}

/** Identical for an unknown, a used and an expired token. */
export class TokenExpired
  extends Schema.TaggedError<TokenExpired>()("TokenExpired", {}, wire(410, "token_expired", 4105))
{
  override get message() {
    return "The token is invalid, used or expired. Request another mail."
  }
}
