import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { FilteredEvent } from "../events/EventPattern.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { pathId, RecoveryId, WebhookId } from "../values/Ids.ts"
import { Data, Done, Paged, pageQuery, StatusFilter } from "../values/Page.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { WebhookNotActive } from "./endpoint/Webhook.ts"
import { RecoverableStatus, Recovery, RecoveryEnded, RecoveryInProgress, RecoveryPreview } from "./recovery/Recovery.ts"

const since = TimestampInput.annotate({ description: "The earliest time of the events" })
const until = TimestampInput.annotate({ description: "The first time that is not included; now by default" })

/** Which deliveries a recovery repeats, apart from their status. */
const span = {
  since,
  until: Schema.optionalKey(until),
  event: Schema.optionalKey(
    FilteredEvent.annotate({
      description:
        "Only deliveries of this event; a name with a channel, for example sms.delivered, matches all channels"
    })
  ),
  response_code: Schema.optionalKey(
    StatusFilter.annotate({
      description: "Only deliveries with this answer to the last attempt: a status such as 503, or a class such as 5xx"
    })
  )
}

const NewRecovery = Schema.Struct({
  ...span,
  status: Schema.Array(RecoverableStatus)
    .annotate({ description: "How the deliveries to repeat have ended; both by default" })
    .check(Schema.isMinLength(1, { message: "name failed, skipped or both" }), Schema.isMaxLength(2))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(RecoverableStatus.literals)))
}).annotate({ identifier: "NewWebhookRecovery" })

const params = { id: pathId(WebhookId) }
const recoveryParams = { ...params, recovery_id: pathId(RecoveryId) }

const start = HttpApiEndpoint.post("start", "/:id/recover", {
  params,
  payload: NewRecovery,
  success: Data(Recovery).pipe(HttpApiSchema.status(202)),
  error: apiErrors(NotFound, ValidationFailed, WebhookNotActive, RecoveryInProgress)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Recover after an outage",
    description:
      "Sends the failed and skipped deliveries of a time again, in the order of their events, with the same event ids and "
      + "bytes and a full set of attempts. The service queues a few hundred at a time, as fast as the endpoint answers, so "
      + "new events are hardly delayed. An event that was delivered since, by a redelivery or an earlier recovery, is not "
      + "sent again. One recovery at a time per webhook."
  }))

const preview = HttpApiEndpoint.get("preview", "/:id/recover", {
  params,
  query: { ...span, status: Schema.optionalKey(RecoverableStatus) },
  success: Data(RecoveryPreview),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Preview a recovery",
    description: "Counts what a recovery would send now, up to 50,000 deliveries, and estimates how long it takes."
  }))

const list = HttpApiEndpoint.get("list", "/:id/recoveries", {
  params,
  query: pageQuery,
  success: Paged(Recovery),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "List recoveries",
    description: "Newest first. They are kept for 30 days after their end."
  }))

const get = HttpApiEndpoint.get("get", "/:id/recoveries/:recovery_id", {
  params: recoveryParams,
  success: Data(Recovery),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read a recovery",
    description: "With its progress. It is completed when all its deliveries have ended."
  }))

const cancel = HttpApiEndpoint.post("cancel", "/:id/recoveries/:recovery_id/cancel", {
  params: recoveryParams,
  success: Done(Recovery),
  error: apiErrors(NotFound, RecoveryEnded)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a recovery",
    description: "Queues no further events. The few hundred at most that are queued are sent, and still counted."
  }))

/** Recoveries of webhooks after an outage. */
export class RecoveriesApi extends HttpApiGroup.make("recoveries")
  .add(start, preview, list, get, cancel)
  .prefix("/v1/webhooks")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhook recoveries",
      description: "What a webhook missed during an outage, sent again in order."
    })
  )
{}
