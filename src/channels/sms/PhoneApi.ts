import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../../platform/http/Access.ts"
import { apiErrors } from "../../platform/http/ApiError.ts"
import { ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Authentication } from "../../platform/http/Authentication.ts"
import { RequestRules } from "../../platform/http/RequestRules.ts"
import { Data } from "../../values/Page.ts"
import { LineType } from "../../values/PhoneNumber.ts"
import { textBetween } from "../../values/Text.ts"

/** Facts about a number. For an impossible number, all fields but `input` and `valid` are null. */
const PhoneValidation = Schema.Struct({
  input: Schema.String,
  valid: Schema.Boolean.annotate({
    description:
      "Whether the number is in a range that its country has assigned. Messages are also accepted for other numbers that have an e164"
  }),
  e164: Schema.NullOr(Schema.String).annotate({
    description: "The form that messages use; also set for a possible number that is not assigned"
  }),
  national_format: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  country_code: Schema.NullOr(Schema.String),
  dial_prefix: Schema.NullOr(Schema.String),
  line_type: Schema.NullOr(LineType)
}).annotate({ identifier: "PhoneValidation" })
export type PhoneValidation = typeof PhoneValidation.Type

const validate = HttpApiEndpoint.get("validate", "/validate", {
  query: { number: textBetween(1, 100) },
  success: Data(PhoneValidation),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, Access.channel(["verify:write", "sms:write"], "verify:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Validate a phone number",
    description:
      "Says whether a number is in a range that its country has assigned, and returns its formats and line type. It does not contact the number, so it cannot say whether the number is in use."
  }))

/** Facts about phone numbers. */
export class PhoneApi extends HttpApiGroup.make("phone")
  .add(validate)
  .prefix("/v1/phone")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Phone numbers",
      description: "Checks whether a number can exist, and of which country and kind it is."
    })
  )
{}
