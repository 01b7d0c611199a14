import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { DomainName } from "../values/DomainName.ts"
import { Data, Done } from "../values/Envelope.ts"
import { VerificationId } from "../values/Ids.ts"
import { IpAddress } from "../values/IpAddress.ts"
import { Locale } from "../values/Locale.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { Recipient } from "./Recipient.ts"
import { CheckedCode, SentVerification, Verification } from "./Verification.ts"
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

/** Stars stand for the digits of a code until it is handed over. */
const BrandName = lineBetween(1, 30).check(
  Schema.makeFilter((text: string) => text.includes("*") ? "must not contain a star" : undefined)
)

/** A code that somebody asks for. */
export const NewVerification = Schema.Struct({
  to: Recipient,
  channel: Schema.optionalKey(
    Schema.Literals(["sms", "whatsapp", "email", "auto"]).annotate({
      description:
        "sms unless it is given. auto: email for an address; for a number WhatsApp, and SMS where WhatsApp takes it not or fails"
    })
  ),
  length: Schema.optionalKey(whole(4, 8).annotate({ description: "Digits of the code; 6 unless it is given" })),
  ttl: Schema.optionalKey(whole(60, 600).annotate({ description: "Seconds until it expires; 300 unless it is given" })),
  brand_name: Schema.optionalKey(BrandName.annotate({ description: "Whose code it is, as its text says" })),
  locale: Schema.optionalKey(
    Locale.annotate({ description: "Language of the text; the account's unless it is given" })
  ),
  domain: Schema.optionalKey(
    DomainName.annotate({
      description: "The site that asks for the code: its last line in an SMS lets browsers fill it in"
    })
  ),
  client_ip: Schema.optionalKey(
    IpAddress.annotate({ description: "The person's address, which is limited as well" })
  ),
  session_id: Schema.optionalKey(
    Schema.Int.annotate({
      description: "The WhatsApp session that sends it; the first connected one unless it is given"
    })
  )
})
export type NewVerification = typeof NewVerification.Type

const digits = textBetween(1, 100).check(
  Schema.isPattern(/^\d{4,8}$/, { message: "must be 4 to 8 digits, as a string" })
)

/** What somebody entered, and for which code. */
export const Guess = Schema.Struct({
  code: digits,
  id: Schema.optionalKey(textBetween(1, 100)),
  to: Schema.optionalKey(Recipient)
})
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
    ChannelUnavailable
  )
})
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:write", { paid: "sending" }))
  .annotateMerge(OpenApi.annotations({
    summary: "Send a one-time code",
    description:
      "Makes a code and sends it to a phone number or an email address. While one is pending for the recipient, the new code replaces the old one under the same id; its wrong attempts stay, and it never lives longer than 20 minutes in all. A recipient gets at most 5 codes in an hour and 20 in a day, and one in 30 seconds. The code is told to nobody but its recipient."
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
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Check a one-time code",
    description:
      "Says whether a code is the last one that was sent, by id or by recipient. A code is right once; five wrong ones end the verification, and then the right one is refused as well."
  }))

const status = HttpApiEndpoint.get("status", "/status/:verification_id", {
  params: { verification_id: VerificationId },
  success: Data(Verification),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:read"))
  .annotateMerge(OpenApi.annotations({ summary: "Read a verification", description: "Without using up an attempt." }))

/** One-time codes (spec 1, 4.1). */
export class VerifyApi extends HttpApiGroup.make("verify")
  .add(send, check, status)
  .prefix("/v1/verify")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "One-time codes" }))
{}
