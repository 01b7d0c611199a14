import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../../platform/http/Access.ts"
import { apiErrors } from "../../platform/http/ApiError.ts"
import { ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Authentication } from "../../platform/http/Authentication.ts"
import { RequestRules } from "../../platform/http/RequestRules.ts"
import { Data } from "../../values/Envelope.ts"
import { LineType } from "../../values/PhoneNumber.ts"
import { textBetween } from "../../values/Text.ts"

/** What is known of a number; all but `input` and `valid` is null when it cannot exist. */
const PhoneValidation = Schema.Struct({
  input: Schema.String,
  valid: Schema.Boolean.annotate({ description: "Whether it lies in a range that its country has assigned" }),
  e164: Schema.NullOr(Schema.String).annotate({
    description: "As messages are sent to it; also of a number that can exist but is not assigned"
  }),
  national_format: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  country_code: Schema.NullOr(Schema.String),
  dial_prefix: Schema.NullOr(Schema.String),
  line_type: Schema.NullOr(LineType)
})
export type PhoneValidation = typeof PhoneValidation.Type

const validate = HttpApiEndpoint.get("validate", "/validate", {
  query: { number: textBetween(1, 100) },
  success: Data(PhoneValidation),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, Access.channel(["verify:write", "sms:write"], "verify:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Look at a phone number",
    description:
      "Whether a number is in a range that its country has assigned, how it is written, and its kind. Nobody is called: whether somebody has the number is not known. In a query a + is written %2B."
  }))

/** Phone numbers as such. */
export class PhoneApi extends HttpApiGroup.make("phone")
  .add(validate)
  .prefix("/v1/phone")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Phone numbers" }))
{}
