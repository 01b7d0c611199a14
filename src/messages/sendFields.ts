import { DateTime, Effect, Option, Schema } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { ApiKeyId } from "../values/Ids.ts"
import { labels, type MessageLabels, messageLabels, Metadata, Tags } from "../values/Labels.ts"
import { Mode } from "../values/TestMode.ts"
import { fromDateTime, Timestamp, TimestampInput } from "../values/Timestamp.ts"

/** Milliseconds. Nodes and a new time of a scheduled message need these to see it before it is due. */
const leastWait = 10_000

const mostDays = 60

/** The fields that every send of every channel takes. */
export const sendFields = {
  send_at: Schema.optionalKey(
    Schema.NullOr(TimestampInput.annotate({
      description: `When to send: 10 seconds to ${mostDays} days ahead. Default: at once`
    }))
  ),
  tags: Schema.optionalKey(Tags),
  metadata: Schema.optionalKey(Metadata)
}

const sendAt = Schema.NullOr(Timestamp).annotate({
  description: "When a scheduled message is due. null if it was not scheduled"
})

/** What every record of a message or a batch shows of them. */
export const sendRecord = { ...labels, send_at: sendAt, mode: Mode }

/** What every answer to a send shows of them. */
export const acceptedFields = { send_at: sendAt }

interface SendFields {
  readonly send_at?: string | null | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Of a step. A failover sets it, never a request. */
  readonly failover_id?: string | null | undefined
}

/** What the record of a single message shows of them. */
export const messageRecord = { ...sendRecord, failover_id: messageLabels.failover_id }

/** Who asked for a message. Stored as JSON. */
export const AcceptedBy = Schema.Struct({
  request_id: Schema.String,
  key_id: Schema.NullOr(ApiKeyId).pipe(Schema.optionalKey),
  key_prefix: Schema.NullOr(Schema.String),
  ip: Schema.String
})
type AcceptedBy = typeof AcceptedBy.Type

/** What a request asks for its messages. */
export interface Sending extends MessageLabels {
  /** Null means at once. */
  readonly sendAt: Timestamp | null
  /** Null for what the service itself sends. */
  readonly acceptedBy: AcceptedBy | null
}

/** The current request; null outside one. */
export const requester = Effect.map(
  RequestContext,
  ({ caller, clientAddress, requestId }): AcceptedBy | null =>
    caller === undefined ? null : {
      request_id: requestId,
      key_id: caller.keyId ?? null,
      key_prefix: caller.keyPrefix ?? null,
      ip: clientAddress
    }
)

/** Reads the time of a scheduled message. */
export const timeOf = Effect.fnUntraced(function*(text: string) {
  const at = DateTime.make(text.toUpperCase().replace(" ", "T"))
  const millis = DateTime.toEpochMillis(yield* DateTime.now)
  const wait = Option.isSome(at) ? DateTime.toEpochMillis(at.value) - millis : 0
  if (Option.isNone(at) || wait < leastWait) {
    return yield* ValidationFailed.of("send_at", "must be at least 10 seconds ahead")
  }
  if (wait > mostDays * 86_400_000) {
    return yield* ValidationFailed.of("send_at", `must be at most ${mostDays} days ahead`)
  }
  return fromDateTime(DateTime.toUtc(at.value))
})

/** Reads the fields. A repeated tag counts once. */
export const sendingOf = Effect.fnUntraced(
  function*({ failover_id = null, metadata = {}, send_at = null, tags = [] }: SendFields) {
    const sendAt = send_at === null ? null : yield* timeOf(send_at)
    const sending: Sending = { tags: [...new Set(tags)], metadata, failover_id, sendAt, acceptedBy: yield* requester }
    return sending
  }
)

/** The column of {@link AcceptedBy}. */
export const acceptedBy = ({ acceptedBy }: Pick<Sending, "acceptedBy">): string | null =>
  acceptedBy === null ? null : JSON.stringify(acceptedBy)

/** The first status of a message or a batch. */
export const firstStatus = ({ sendAt }: Sending) => sendAt === null ? "queued" as const : "scheduled" as const
