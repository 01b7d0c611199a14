import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { Locale, Timezone } from "../values/Locale.ts"
import { Data, Nothing } from "../values/Page.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Account } from "./Account.ts"
import { NewPassword } from "./AccountApi.ts"
import {
  EmailTaken,
  InvalidCredentials,
  LoginPaused,
  RegistrationClosed,
  SecondFactorRequired,
  TokenExpired
} from "./AccountErrors.ts"

/** A login session. Its `token` is used like an API key. */
const Login = Schema.Struct({ account: Account, token: Schema.String, expires_at: Timestamp }).annotate({
  identifier: "Login"
})

const register = HttpApiEndpoint.post("register", "/register", {
  payload: Schema.Struct({
    name: lineBetween(1, 200),
    email: EmailAddress,
    password: NewPassword,
    timezone: Schema.optionalKey(Timezone),
    locale: Schema.optionalKey(Locale)
  }).annotate({ identifier: "NewAccount" }),
  success: Data(Login).pipe(HttpApiSchema.status(201)),
  error: apiErrors(EmailTaken, RegistrationClosed, RateLimitExceeded, ValidationFailed)
}).annotate(Access.Access, Access.open).annotate(Access.AddressLimit, "rateLimitLogin").annotateMerge(
  OpenApi.annotations({
    summary: "Register an account",
    description:
      "Starts the 3-day trial on the Starter plan. The operator can close registration. In production the owner gets a mail with a link, and the account sends nothing before the address is confirmed there."
  })
)

const login = HttpApiEndpoint.post("login", "/login", {
  payload: Schema.Struct({
    email: textBetween(1, 320),
    password: textBetween(1, 128),
    code: Schema.optionalKey(
      textBetween(1, 32).annotate({
        description: "A code of the authenticator app, or a recovery code, where the owner has one"
      })
    )
  }).annotate({ identifier: "NewLogin" }),
  success: Data(Login),
  error: apiErrors(InvalidCredentials, SecondFactorRequired, LoginPaused, RateLimitExceeded)
}).annotate(Access.Access, Access.open).annotate(Access.AddressLimit, "rateLimitLogin").annotateMerge(
  OpenApi.annotations({
    summary: "Log in",
    description:
      "Returns a session token. Use it like an API key without scopes. An owner with a second factor sends its code, too."
  })
)

const logout = HttpApiEndpoint.post("logout", "/logout", { success: Nothing })
  .annotate(Access.Access, Access.full())
  .annotateMerge(OpenApi.annotations({ summary: "Log out", description: "Ends the current login session." }))

const forgot = HttpApiEndpoint.post("forgot", "/password/forgot", {
  payload: Schema.Struct({ email: EmailAddress }).annotate({ identifier: "PasswordResetRequest" }),
  success: Nothing.pipe(HttpApiSchema.status(202)),
  error: apiErrors(RateLimitExceeded)
}).annotate(Access.Access, Access.open).annotate(Access.AddressLimit, "rateLimitLogin").annotateMerge(
  OpenApi.annotations({
    summary: "Request a password reset",
    description: "Mails a token to the address if an account has it. The response is the same if none has."
  })
)

const reset = HttpApiEndpoint.post("reset", "/password/reset", {
  payload: Schema.Struct({
    token: textBetween(1, 128),
    password: NewPassword,
    password_confirmation: textBetween(1, 128)
  }).annotate({ identifier: "PasswordReset" }),
  success: Nothing,
  error: apiErrors(TokenExpired, RateLimitExceeded, ValidationFailed)
}).annotate(Access.Access, Access.open).annotate(Access.AddressLimit, "rateLimitLogin").annotateMerge(
  OpenApi.annotations({
    summary: "Set a new password",
    description:
      "Requires the token from the mail, which works once and within an hour. Ends all login sessions; API keys stay valid. "
      + "If the address was not confirmed before, the token confirms it, and ends API keys and second factors too."
  })
)

const askConfirmation = HttpApiEndpoint.post("askConfirmation", "/confirmation", {
  success: Nothing.pipe(HttpApiSchema.status(202)),
  error: apiErrors(RateLimitExceeded)
})
  .annotate(Access.Access, Access.full("account:write"))
  .annotateMerge(
    OpenApi.annotations({
      summary: "Request another mail to confirm the address",
      description: "Mails another link, at most five times an hour. No mail if the address is confirmed."
    })
  )

/** Registration, login, logout and password resets for people. */
export class AuthApi extends HttpApiGroup.make("auth")
  .add(register, login, forgot, reset)
  .middleware(RequestRules)
  // The last middleware runs first: the key is checked before the body is read.
  .add(
    logout.middleware(RequestRules).middleware(Authentication),
    askConfirmation.middleware(RequestRules).middleware(Authentication)
  )
  .prefix("/v1/auth")
  .annotateMerge(
    OpenApi.annotations({
      title: "Registration and login",
      description: "Opens an account and gives tokens to its owner."
    })
  )
{}
