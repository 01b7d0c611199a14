import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import {
  NotFound,
  PlanLimitExceeded,
  RateLimitExceeded,
  SubscriptionRequired,
  ValidationFailed
} from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { DomainName } from "../values/DomainName.ts"
import { VerificationId } from "../values/Ids.ts"
import { IpAddress } from "../values/IpAddress.ts"
import { Locale } from "../values/Locale.ts"
import { Data, Done, Nothing, Paged, pageQuery } from "../values/Page.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { Recipient } from "./Recipient.ts"
import {
  BlockedPrefix,
  CheckedCode,
  CodeChannel,
  SentVerification,
  Verification,
  VerificationStatistics,
  VerificationStatus
} from "./Verification.ts"
import {
  ChannelUnavailable,
  CountryNotAllowed,
  MaxAttemptsExceeded,
  OtpLimitReached,
  VerificationBlocked,
  VerificationExpired,
  VerificationNotFound
} from "./VerifyErrors.ts"

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { message: `must be a whole number from ${minimum} to ${maximum}` })
  )

/** Stars mark the digits of a code until it is sent. */
const BrandName = lineBetween(1, 30).check(
  Schema.makeFilter((text: string) => text.includes("*") ? "must not contain a star" : undefined)
)

/** A request for a code. */
export const NewVerification = Schema.Struct({
  to: Recipient,
  channel: Schema.optionalKey(
    Schema.Literals(["sms", "whatsapp", "email", "auto"]).annotate({
      description:
        "Defaults to sms. auto: email for an address; for a number WhatsApp, then SMS if WhatsApp refuses, fails or is late"
    })
  ),
  length: Schema.optionalKey(whole(4, 8).annotate({ description: "Digits of the code; defaults to 6" })),
  ttl: Schema.optionalKey(whole(60, 600).annotate({ description: "Seconds until it expires; defaults to 300" })),
  brand_name: Schema.optionalKey(BrandName.annotate({ description: "The sender named in the text" })),
  locale: Schema.optionalKey(
    Locale.annotate({ description: "Language of the text; defaults to the account's" })
  ),
  domain: Schema.optionalKey(
    DomainName.annotate({
      description:
        "The site that requests the code. Added as the last line of an SMS, it lets browsers fill the code in"
    })
  ),
  client_ip: Schema.optionalKey(
    IpAddress.annotate({ description: "The person's IP address, for an additional limit" })
  ),
  session_id: Schema.optionalKey(
    Schema.Int.annotate({
      description: "The WhatsApp session that sends it; defaults to the first connected one"
    })
  )
}).annotate({ identifier: "NewVerification" })
export type NewVerification = typeof NewVerification.Type

const digits = textBetween(1, 100).check(
  Schema.isPattern(/^\d{4,8}$/, { message: "must be 4 to 8 digits, as a string" })
)

/** An entered code and the verification that it is for. */
export const Guess = Schema.Struct({
  code: digits,
  id: Schema.optionalKey(textBetween(1, 100)),
  to: Schema.optionalKey(Recipient)
}).annotate({ identifier: "CodeCheck" })
export type Guess = typeof Guess.Type

const send = HttpApiEndpoint.post("send", "/send", {
  payload: NewVerification,
  success: Done(SentVerification).pipe(HttpApiSchema.status(201)),
  error: apiErrors(
    ValidationFailed,
    UnsupportedDestination,
    PlanLimitExceeded,
    EmailQuotaExceeded,
    OtpLimitReached,
    VerificationBlocked,
    CountryNotAllowed,
    SubscriptionRequired,
    ChannelUnavailable
  )
})
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:write", { paid: "sending" }))
  .annotateMerge(OpenApi.annotations({
    summary: "Send a one-time code",
    description:
      "Sends a code to a phone number or an email address. If a verification is pending for the recipient, the new code replaces the old one under the same id. Its wrong attempts stay, and it lasts at most 20 minutes in all: a request in the last of them begins a new one. A recipient gets at most 5 codes an hour, 20 a day and one every 30 seconds. Only the recipient sees the code."
  }))

const check = HttpApiEndpoint.post("check", "/check", {
  payload: Guess,
  success: Done(CheckedCode),
  error: apiErrors(
    ValidationFailed,
    VerificationNotFound,
    VerificationExpired,
    MaxAttemptsExceeded,
    RateLimitExceeded
  )
})
  .annotate(Access.AccountLimit, "rateLimitCodeCheck")
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Check a one-time code",
    description:
      "Checks a code against the last one sent, by id, by recipient, or by both, which have to match. A code is accepted once. Five wrong codes end the verification, and the correct code is then refused too."
  }))

const reading = Access.channel(["verify:write"], "verify:read")

const status = HttpApiEndpoint.get("status", "/status/:verification_id", {
  params: { verification_id: VerificationId },
  success: Data(Verification),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({ summary: "Read a verification", description: "Does not count as an attempt." }))

const list = HttpApiEndpoint.get("list", "/status", {
  query: {
    ...pageQuery,
    status: Schema.optionalKey(VerificationStatus),
    channel: Schema.optionalKey(CodeChannel),
    to: Schema.optionalKey(Recipient),
    from_date: Schema.optionalKey(TimestampInput),
    to_date: Schema.optionalKey(TimestampInput)
  },
  success: Paged(Verification),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List verifications",
    description: "Newest first, without their codes. from_date is inclusive and to_date exclusive."
  }))

const statistics = HttpApiEndpoint.get("statistics", "/statistics", {
  query: { from_date: Schema.optionalKey(TimestampInput), to_date: Schema.optionalKey(TimestampInput) },
  success: Data(VerificationStatistics),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read the figures of one-time codes",
    description:
      "How many verifications began, how they ended, what their SMS cost and how long people took, in all and by channel and country. The default is the last 7 days, and the most is 31 days. Verifications are kept for 30 days after their end."
  }))

const blocks = HttpApiEndpoint.get("blocks", "/blocks", { success: Data(Schema.Array(BlockedPrefix)) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List blocked prefixes",
    description:
      "Prefixes of phone numbers that get no codes for 12 hours, because many were sent and hardly any was entered (SMS pumping). The newest first."
  }))

const release = HttpApiEndpoint.delete("release", "/blocks/:prefix", {
  params: {
    prefix: Schema.String.check(
      Schema.isPattern(/^\+\d{1,14}$/, { message: "must be a plus and digits, such as +25078811" })
    )
  },
  success: Nothing,
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Release a blocked prefix",
    description: "Its numbers get codes again. It is not blocked again before the end of the block."
  }))

/** One-time codes (spec 1, 4.1). */
export class VerifyApi extends HttpApiGroup.make("verify")
  .add(send, check, list, status, statistics, blocks, release)
  .prefix("/v1/verify")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "One-time codes",
      description: "Codes that prove a phone number or an email address."
    })
  )
{}
