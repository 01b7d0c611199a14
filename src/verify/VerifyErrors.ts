import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { pluralize } from "../values/pluralize.ts"
import { CodeChannel } from "./Verification.ts"

/** The same for an id or a recipient that is unknown, somebody else's, or done with: it tells nothing about others. */
export class VerificationNotFound extends Schema.TaggedError<VerificationNotFound>()(
  "VerificationNotFound",
  {},
  wire(404, "verification_not_found", 4041)
) {
  override get message() {
    return "No code waits for this. It was used already, or never sent: send a new one."
  }
}

export class VerificationExpired extends Schema.TaggedError<VerificationExpired>()(
  "VerificationExpired",
  {},
  wire(410, "verification_expired", 4102)
) {
  override get message() {
    return "This code has expired. Send a new one."
  }
}

export class MaxAttemptsExceeded extends Schema.TaggedError<MaxAttemptsExceeded>()(
  "MaxAttemptsExceeded",
  { limit: Schema.Int },
  wire(429, "max_attempts_exceeded", 4291)
) {
  override get message() {
    return `There were ${this.limit} wrong codes, so no other is looked at. Send a new one.`
  }
}

/** Which of the limits on codes was reached. */
export const OtpLimitReason = Schema.Literals([
  "resend_cool_down",
  "recipient_hour",
  "recipient_day",
  "client_ip_hour",
  "prefix_hour"
])
export type OtpLimitReason = typeof OtpLimitReason.Type

const what: Readonly<Record<OtpLimitReason, string>> = {
  resend_cool_down: "The last code for this recipient has only just been sent",
  recipient_hour: "This recipient got as many codes in an hour as it may",
  recipient_day: "This recipient got as many codes in a day as it may",
  client_ip_hour: "This client_ip asked for as many codes in an hour as it may",
  prefix_hour: "Numbers that begin like this one got as many codes in an hour as they may"
}

export class OtpLimitReached extends Schema.TaggedError<OtpLimitReached>()(
  "OtpLimitReached",
  { reason: OtpLimitReason, limit: Schema.Int, retry_after: Schema.Int },
  wire(429, "otp_limit", 4290)
) {
  override get message() {
    return `${what[this.reason]}. Try again in ${pluralize(this.retry_after, "second")}.`
  }
}

export class VerificationBlocked extends Schema.TaggedError<VerificationBlocked>()(
  "VerificationBlocked",
  { retry_after: Schema.Int },
  wire(403, "verification_blocked", 4033)
) {
  override get message() {
    const wait = pluralize(this.retry_after, "second")
    return `Codes to numbers that begin like this one were hardly ever entered, so none are sent there for ${wait}.`
  }
}

export class CountryNotAllowed extends Schema.TaggedError<CountryNotAllowed>()(
  "CountryNotAllowed",
  { param: Schema.String, country: Schema.NullOr(Schema.String) },
  wire(403, "country_not_allowed", 4035)
) {
  override get message() {
    return `No codes are sent to numbers of ${
      this.country ?? "no country"
    } here. Ask the operator to add it to OTP_COUNTRIES.`
  }
}

export class ChannelUnavailable extends Schema.TaggedError<ChannelUnavailable>()(
  "ChannelUnavailable",
  { channel: CodeChannel },
  wire(503, "channel_unavailable", 5032)
) {
  override get message() {
    return `No code can be sent by ${this.channel} at the moment. Use another channel, or try again later.`
  }
}
