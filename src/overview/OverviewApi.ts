import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SummaryChannel } from "../messages/MessageSummary.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Timezone } from "../values/Locale.ts"
import { Data } from "../values/Page.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { AttentionItem } from "./attentionOf.ts"
import { StatisticsRow, StatisticsUnit } from "./StatisticsRow.ts"

const reading = Access.channel(["account:read"], "account:read")

const stats = HttpApiEndpoint.get("stats", "/stats", {
  query: {
    from_date: Schema.optionalKey(TimestampInput),
    to_date: Schema.optionalKey(TimestampInput),
    granularity: StatisticsUnit.pipe(Schema.withDecodingDefaultKey(Effect.succeed("hour"))),
    timezone: Timezone.pipe(Schema.withDecodingDefaultKey(Effect.succeed("UTC"))),
    channel: Schema.optionalKey(SummaryChannel)
  },
  success: Data(Schema.Array(StatisticsRow)),
  error: apiErrors(ValidationFailed)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read the numbers of messages by outcome",
  description:
    "How many messages were accepted, sent, delivered and so on in each hour or day, oldest first. Days begin at midnight of timezone. A message is counted in the hour of each outcome, so an hour can have more delivered messages than sent ones. The default is the last 24 hours, or the last 30 days by day. At most 31 days by hour, and 366 by day."
}))

const attention = HttpApiEndpoint.get("attention", "/attention", {
  success: Data(Schema.Array(AttentionItem))
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read what needs attention",
  description:
    "Unhealthy webhooks, sessions and domains, a mail relay or carrier that a node cannot reach, messages and codes that no node has tried to send in time, bounces and complaints, quotas, keys that end, and more: the worst first, and of these the oldest. A key with scopes, or without the permission to list webhooks or keys, does not see what is about them. An empty list means that nothing needs attention."
}))

/** An account at a glance. */
export class OverviewApi extends HttpApiGroup.make("overview")
  .add(stats, attention)
  .prefix("/v1/account")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "Overview",
    description: "Numbers of messages, and what needs attention."
  }))
{}
