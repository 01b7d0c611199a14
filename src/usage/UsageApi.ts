import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { DayInput } from "../values/Day.ts"
import { tagQuery } from "../values/Labels.ts"
import { Data } from "../values/Page.ts"
import { BillingReport, Granularity, UsageReport, UsedInTime } from "./UsageReport.ts"

const period = { from_date: Schema.optionalKey(DayInput), to_date: Schema.optionalKey(DayInput) }
const granularity = Schema.optionalKey(Granularity)

const reading = Access.channel(["account:read"], "account:read")

const spans = "from_date is inclusive and to_date exclusive. They are days, or moments that mean their day, in UTC. "
  + "The default is the current month. At most 366 days."

const ofTags = "tag counts only the stored messages that have it, so not those that are older than messages are kept."

const current = HttpApiEndpoint.get("current", "/usage", {
  query: { ...period, ...tagQuery },
  success: Data(UsageReport),
  error: apiErrors(NotFound, ValidationFailed)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read usage",
  description: `The totals of a period, and the remaining quotas of the current month. ${spans} ${ofTags}`
}))

const daily = HttpApiEndpoint.get("daily", "/usage/daily", {
  query: { ...period, ...tagQuery, granularity },
  success: Data(Schema.Array(UsedInTime)),
  error: apiErrors(ValidationFailed)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read usage by day",
  description: `Oldest first. granularity groups days into weeks or months. ${spans} ${ofTags}`
}))

const billing = HttpApiEndpoint.get("billing", "/billing", {
  query: { ...period, granularity },
  success: Data(BillingReport),
  error: apiErrors(NotFound, ValidationFailed)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read costs",
  description: `The plan, and the usage that is priced separately, by month unless granularity says otherwise. ${spans}`
}))

/** Usage of an account (spec 8). */
export class UsageApi extends HttpApiGroup.make("usage")
  .add(current, daily, billing)
  .prefix("/v1/account")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Usage and billing",
      description: "What the account has sent, what its plan allows, and what it costs."
    })
  )
{}
