import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"

export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}, wire(409, "email_taken", 4096)) {
  override get message() {
    return "An account with this email address exists. Log in instead."
  }
}

/** The same for an unknown address and a wrong password, in the same time: it does not tell who has an account. */
export class InvalidCredentials extends Schema.TaggedError<InvalidCredentials>()(
  "InvalidCredentials",
  {},
  wire(401, "invalid_credentials", 4014)
) {
  override get message() {
    return "The email address or the password is wrong."
  }
}

export class RegistrationClosed extends Schema.TaggedError<RegistrationClosed>()(
  "RegistrationClosed",
  {},
  wire(403, "registration_closed", 4032)
) {
  override get message() {
    return "This service does not take registrations. Ask its operator for an account."
  }
}
