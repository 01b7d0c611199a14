import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { RateLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { SmsPrice } from "./SmsPrice.ts"

/** The whole list, or one country of it. */
export const PriceList = Schema.Struct({
  data: Schema.Array(SmsPrice),
  meta: Schema.Struct({ total: Schema.Int, updated_at: Timestamp })
}).annotate({ identifier: "PriceList" })
export type PriceList = typeof PriceList.Type

const list = HttpApiEndpoint.get("list", "/pricing", {
  query: {
    country: Schema.optionalKey(
      Schema.String.check(Schema.isPattern(/^[A-Za-z]{2}$/, { message: "must be a two-letter country code" }))
    )
  },
  success: PriceList,
  error: apiErrors(ValidationFailed, RateLimitExceeded)
})
  .annotate(Access.Access, Access.open)
  .annotateMerge(OpenApi.annotations({
    summary: "Read SMS prices",
    description:
      "The price of one segment to each country, ordered by name. No key is needed. A segment has 160 characters, or 153 if a message has several; 70 and 67 outside the GSM alphabet. The response has a weak ETag, and any web page may read it."
  }))

/** Public prices (spec 4.6). */
export class PricingApi extends HttpApiGroup.make("pricing")
  .add(list)
  .prefix("/v1/sms")
  .middleware(RequestRules)
  .annotateMerge(
    OpenApi.annotations({ title: "SMS prices", description: "What an SMS to each country costs. Needs no key." })
  )
{}
