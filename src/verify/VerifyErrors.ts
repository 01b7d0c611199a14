import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { pluralize } from "../values/messageText.ts"
import { CodeChannel } from "./Verification.ts"

/** Identical for an id or recipient that is unknown, another account's, or already used, so that it reveals nothing. */
export class VerificationNotFound extends Schema.TaggedError<VerificationNotFound>()(
  "VerificationNotFound",
  {},
  wire(404, "verification_not_found", 4041)
) {
  override get message() {
    return "There is no pending code. It was already used, or never sent. Send a new one."
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
    return `Too many incorrect codes (${this.limit}). Send a new one.`
  }
}

/** The limit that was reached. */
export const OtpLimitReason = Schema.Literals([
  "resend_cool_down",
  "recipient_hour",
  "recipient_day",
  "all_accounts_hour",
  "all_accounts_day",
  "client_ip_hour",
  "prefix_hour"
])
export type OtpLimitReason = typeof OtpLimitReason.Type

const reasons: Readonly<Record<OtpLimitReason, string>> = {
  resend_cool_down: "A code was sent to this recipient a moment ago",
  recipient_hour: "This recipient has reached the limit of codes per hour",
  recipient_day: "This recipient has reached the limit of codes per day",
  all_accounts_hour: "This recipient has reached the limit of codes per hour from all accounts of this service",
  all_accounts_day: "This recipient has reached the limit of codes per day from all accounts of this service",
  client_ip_hour: "This client_ip has reached the limit of codes per hour",
  prefix_hour: "Numbers in this range have reached the limit of codes per hour"
}

export class OtpLimitReached extends Schema.TaggedError<OtpLimitReached>()(
  "OtpLimitReached",
  { reason: OtpLimitReason, limit: Schema.Int, retry_after: Schema.Int },
  wire(429, "otp_limit", 4290)
) {
  override get message() {
    return `${reasons[this.reason]}. Try again in ${pluralize(this.retry_after, "second")}.`
  }
}

export class VerificationBlocked extends Schema.TaggedError<VerificationBlocked>()(
  "VerificationBlocked",
  { retry_after: Schema.Int },
  wire(403, "verification_blocked", 4033)
) {
  override get message() {
    const wait = pluralize(this.retry_after, "second")
    return `Codes to this number range are blocked for ${wait}, because almost none were confirmed.`
  }
}

export class CountryNotAllowed extends Schema.TaggedError<CountryNotAllowed>()(
  "CountryNotAllowed",
  { param: Schema.String, country: Schema.NullOr(Schema.String) },
  wire(403, "country_not_allowed", 4035)
) {
  override get message() {
    return `This service sends no codes to numbers of ${
      this.country ?? "an unknown country"
    }. Ask the operator to add the country to OTP_COUNTRIES.`
  }
}

export class ChannelUnavailable extends Schema.TaggedError<ChannelUnavailable>()(
  "ChannelUnavailable",
  { channel: CodeChannel },
  wire(503, "channel_unavailable", 5032)
) {
  override get message() {
    const remedy = this.channel === "whatsapp" ? "Connect a WhatsApp session, use" : "Use"
    return `Codes cannot be sent by ${this.channel} now. ${remedy} another channel, or try again later.`
  }
}
