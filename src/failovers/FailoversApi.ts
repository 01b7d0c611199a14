import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../accounts/AccountErrors.ts"
import { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import { SenderNotVerified } from "../email-domains/EmailDomain.ts"
import { MessageOver, Reschedule } from "../messages/MessageOver.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import {
  InsufficientPermission,
  InsufficientScope,
  NotFound,
  PlanLimitExceeded,
  SubscriptionRequired,
  ValidationFailed
} from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { BodyLimit, files, RequestRules, WaitsOutside } from "../platform/http/RequestRules.ts"
import { FailoverId } from "../values/Ids.ts"
import { Data, Done } from "../values/Page.ts"
import { Failover, NewFailover } from "./Failover.ts"

const writers = ["whatsapp:write", "sms:write", "email:write"] as const

const writing = Access.channel(writers, "messages:write")
const reading = Access.channel([...writers, "whatsapp:read"], "messages:read")

const send = HttpApiEndpoint.post("send", "/", {
  payload: NewFailover,
  success: Done(Failover).pipe(HttpApiSchema.status(202)),
  error: apiErrors(
    ValidationFailed,
    NotFound,
    InsufficientScope,
    InsufficientPermission,
    SenderNotVerified,
    UnsupportedDestination,
    PlanLimitExceeded,
    EmailQuotaExceeded,
    SubscriptionRequired
  )
})
  .annotate(Access.Access, Access.channel(writers, "messages:write", { paid: "sending" }))
  .annotate(BodyLimit, files)
  .annotateMerge(OpenApi.annotations({
    summary: "Send a message with failover",
    description:
      "Tries one to five steps in order. The next step begins when a step fails for good, or has not reached its until within its seconds after the hand-over. Every step is validated now, and a key with scopes or permissions needs those of each channel. A trial sends only by its own channels. A WhatsApp session that is not connected fails its step only when that begins. One event reports the end: message.delivered, message.sent or message.failed; the events of the steps carry failover_id."
  }))

const params = { failover_id: FailoverId }

const find = HttpApiEndpoint.get("find", "/:failover_id", {
  params,
  success: Data(Failover),
  error: apiErrors(NotFound, InsufficientScope, InsufficientPermission)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a message with failover",
    description:
      "Its status, and each step with its message, its times and its cost. A key with scopes or permissions needs those of each channel."
  }))

const cancel = HttpApiEndpoint.post("cancel", "/:failover_id/cancel", {
  params,
  success: Done(Failover),
  error: apiErrors(NotFound, MessageOver, InsufficientScope, InsufficientPermission)
})
  .annotate(Access.Access, writing)
  .annotate(WaitsOutside, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a message with failover",
    description:
      "Withdraws what no channel has handed over. The status is canceled when no step was sent, else the best that was reached."
  }))

const reschedule = HttpApiEndpoint.patch("reschedule", "/:failover_id", {
  params,
  payload: Reschedule,
  success: Data(Failover),
  error: apiErrors(NotFound, MessageOver, ValidationFailed, InsufficientScope, InsufficientPermission)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Reschedule a message with failover",
    description: "Changes the time of a message that is still scheduled."
  }))

/** Messages with steps over several channels. */
export class FailoversApi extends HttpApiGroup.make("failovers")
  .add(send, find, cancel, reschedule)
  .prefix("/v1/messages")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "Messages with failover",
    description: "One message over several channels: the next one follows when one fails."
  }))
{}
