import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AnyStatus, MessageSummary, SummaryChannel } from "../messages/MessageSummary.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { InsufficientPermission, InsufficientScope, NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { ReadsParameter } from "../platform/http/names/UnknownNames.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { DomainName } from "../values/DomainName.ts"
import { ApiKeyId, FailoverId, MessageId, pathId, VerificationId, WhatsAppSessionId } from "../values/Ids.ts"
import { metadataKeyOf } from "../values/Labels.ts"
import { CursorPaged, cursorQuery, Data } from "../values/Page.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { CodeTimelineEntry, TimelineEntry } from "./Timeline.ts"

const Tag = textBetween(1, 64)

const Sought = lineBetween(1, 100).check(
  Schema.makeFilter((text: string) => /[\p{L}\p{N}]/u.test(text) ? undefined : "must have a letter or a digit", {
    toJsonSchema: () => ({})
  })
)

const list = HttpApiEndpoint.get("list", "/messages", {
  query: {
    ...cursorQuery,
    channel: Schema.optionalKey(SummaryChannel),
    status: Schema.optionalKey(AnyStatus),
    direction: Schema.optionalKey(Schema.Literals(["in", "out"])).annotate({
      description: "`out`: the account sent it. `in`: it was received"
    }),
    to: Schema.optionalKey(textBetween(1, 320)).annotate({
      description:
        "The beginning of a recipient, or of the sender of a received message; the plus of a phone number may be missing"
    }),
    batch_id: Schema.optionalKey(textBetween(1, 100)),
    session_id: Schema.optionalKey(pathId(WhatsAppSessionId)),
    error_code: Schema.optionalKey(textBetween(1, 100)).annotate({
      description: "The SMS and WhatsApp messages that failed with this `error_code`. It reads the failed messages only"
    }),
    domain: Schema.optionalKey(DomainName).annotate({
      description: "The emails whose sender has an address at exactly this domain"
    }),
    key_id: Schema.optionalKey(pathId(ApiKeyId)).annotate({
      description: "The messages that requests with this API key made; the key may be revoked"
    }),
    tag: Schema.optionalKey(Schema.Union([Tag, Schema.Array(Tag).check(Schema.isMaxLength(10))])).annotate({
      description: "A tag that each message has. Repeated: all of them"
    }),
    q: Schema.optionalKey(Sought).annotate({
      description:
        "Words, each the beginning of a word in the recipients, the subject or the first 200 characters of the text; case and accents do not matter. A phone number is also found by its last digits"
    }),
    from_date: Schema.optionalKey(TimestampInput),
    to_date: Schema.optionalKey(TimestampInput)
  },
  success: CursorPaged(MessageSummary),
  error: apiErrors(ValidationFailed, InsufficientScope, InsufficientPermission)
})
  .annotate(
    Access.Access,
    Access.channel(["email:write", "sms:write", "whatsapp:read"], "messages:read")
  )
  .annotate(ReadsParameter, (name) => metadataKeyOf(name) !== undefined)
  .annotateMerge(OpenApi.annotations({
    summary: "List messages of all channels",
    description:
      "Lists emails, recipients of batches, SMS, WhatsApp messages and codes, newest first, also those that were never sent. A key sees the channels of its scopes and permissions. `metadata[KEY]=VALUE` selects by metadata. from_date is inclusive and to_date exclusive. The list has no total; continue with cursor."
  }))

const timeline = <const Name extends string, const Path extends `/${string}`>(
  name: Name,
  path: Path,
  { access, of }: { readonly access: Access.Rule; readonly of: string }
) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: pathId(MessageId) },
    success: Data(Schema.Array(TimelineEntry)),
    error: apiErrors(NotFound)
  })
    .annotate(Access.Access, access)
    .annotateMerge(OpenApi.annotations({
      summary: `Read the timeline of ${of}`,
      description:
        "Everything that happened to the message, oldest first: its acceptance, each attempt with the peer's answer, each status with its source, each event, and what each webhook did with it. `kind` tells the fields of `detail`."
    }))

const failoverTimeline = HttpApiEndpoint.get("failoverTimeline", "/messages/:failover_id/timeline", {
  params: { failover_id: FailoverId },
  success: Data(Schema.Array(TimelineEntry)),
  error: apiErrors(NotFound)
})
  .annotate(
    Access.Access,
    Access.channel(["whatsapp:write", "sms:write", "email:write", "whatsapp:read"], "messages:read")
  )
  .annotateMerge(OpenApi.annotations({
    summary: "Read the timeline of a message with failover",
    description:
      "Everything that happened to it and to the messages that its steps became, oldest first. `message` is the path of the message that an entry is about; entries without it are about the whole. A key sees the steps of the channels that it covers."
  }))

const codeTimeline = HttpApiEndpoint.get("codeTimeline", "/verify/status/:verification_id/timeline", {
  params: { verification_id: VerificationId },
  success: Data(Schema.Array(CodeTimelineEntry)),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["verify:write"], "verify:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read the timeline of a one-time code",
    description:
      "Everything that happened to a verification and to the messages that carried its codes, oldest first. `message` is the path of the message that an entry is about; entries without it are about the verification."
  }))

/** The messages of all channels. */
export class HistoryApi extends HttpApiGroup.make("history")
  .add(
    list,
    timeline("emailTimeline", "/email/messages/:id/timeline", {
      access: Access.channel(["email:write"], "emails:read"),
      of: "an email"
    }),
    timeline("smsTimeline", "/sms/messages/:id/timeline", {
      access: Access.channel(["sms:write"], "sms:read"),
      of: "an SMS"
    }),
    timeline("whatsappTimeline", "/whatsapp/messages/:id/timeline", {
      access: Access.channel(["whatsapp:read"], "messages:read"),
      of: "a WhatsApp message"
    }),
    failoverTimeline,
    codeTimeline
  )
  .prefix("/v1")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "All messages",
    description: "What became of each message, whatever its channel."
  }))
{}
