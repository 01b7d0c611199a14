import { Schema } from "effect"
import { AnyStatus } from "../messages/MessageSummary.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { VerificationStatus } from "../verify/Verification.ts"

const text = Schema.NullOr(Schema.String)

const entry = <const Kind extends string, Fields extends Schema.Struct.Fields>(
  kind: Kind,
  description: string,
  fields: Fields
) =>
  Schema.Struct({
    at: Timestamp,
    kind: Schema.Literal(kind),
    detail: Schema.Struct(fields),
    message: Schema.optionalKey(Schema.String).annotate({
      description: "the path of the message, in a timeline of several messages"
    })
  }).annotate({ identifier: `Timeline${kind[0]?.toUpperCase() ?? ""}${kind.slice(1)}`, description })

const attempt = {
  attempt: Schema.Int,
  outcome: Schema.Literals(["accepted", "refused", "deferred", "unconfirmed", "failed"]),
  to: text.annotate({ description: "the address of an email's copy" }),
  part: Schema.NullOr(Schema.Int).annotate({ description: "the part of an SMS" }),
  peer: text.annotate({ description: "the relay's address, the provider, or `whatsapp`" }),
  reply: text.annotate({ description: "the last answer: an SMTP reply with its enhanced code, or a status" }),
  duration_ms: Schema.NullOr(Schema.Int),
  dialogue: text.annotate({
    description: "Commands (`C:`) and replies (`S:`) of the mail transaction, as SMTP_DIALOGUE has it stored"
  })
}

/** One entry of a timeline. `kind` tells the fields of `detail`. */
export const TimelineEntry = Schema.Union([
  entry("accepted", "The service has stored the message.", {
    batch_id: text,
    request_id: text.annotate({ description: "the request that sent it; null for what the service itself sends" }),
    key_prefix: text.annotate({ description: "the visible part of its API key; null for a login" }),
    ip: text.annotate({ description: "the client's address" })
  }),
  entry("scheduled", "The message waits for its time.", { send_at: Timestamp }),
  entry("rescheduled", "The message waits for another time.", { send_at: Timestamp }),
  entry("suppressed", "An address of the message gets no mail of this account.", { to: Schema.String }),
  entry("queued", "The message is due.", {}),
  entry("claimed", "A node began an attempt.", { attempt: Schema.Int, part: Schema.NullOr(Schema.Int), to: text }),
  entry("attempt", "An attempt ended with this answer.", attempt),
  entry("deferred", "The next attempt is due at this time.", { attempt: Schema.Int, next_at: Timestamp, to: text }),
  entry("canceled", "The message was withdrawn before it was sent.", { to: text }),
  entry("status", "The message has reached this status.", {
    status: AnyStatus,
    source: Schema.Literals(["relay", "report", "pixel", "link", "provider", "receipt", "whatsapp", "service"]),
    to: text,
    error: text
  }),
  entry("event", "An event was published.", { id: Schema.String, event: Schema.String }),
  entry("delivery", "A webhook got the event, or did not.", {
    id: Schema.Int,
    webhook_id: Schema.Int,
    event_id: Schema.String,
    event: Schema.String,
    status: Schema.Literals(["pending", "retrying", "delivered", "failed", "skipped"]),
    attempts: Schema.Int,
    response_code: Schema.NullOr(Schema.Int),
    error: text
  })
])
export type TimelineEntry = typeof TimelineEntry.Type

/** One entry of a verification's timeline. */
export const CodeTimelineEntry = Schema.Union([
  ...TimelineEntry.members,
  entry("verification", "The verification has ended.", { status: VerificationStatus })
])
export type CodeTimelineEntry = typeof CodeTimelineEntry.Type
