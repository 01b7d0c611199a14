import { DateTime, Schema } from "effect"
import { Violation } from "../platform/http/ApiErrors.ts"
import { ApiKeyId, PersonId } from "../values/Ids.ts"
import { fromDateTime, Timestamp } from "../values/Timestamp.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** `X-Request-Id` of an answer: a UUID of version 7, which begins with its time. */
export const RequestId = Schema.String.annotate({ format: "uuid" }).check(
  Schema.isPattern(uuid, { message: "must be the X-Request-Id of an answer, which is a UUID" })
).pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

/** The milliseconds of a UUID of version 7. */
const millisOf = (id: RequestId) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** When a request arrived. */
export const arrivalOf = (id: RequestId): Timestamp => fromDateTime(DateTime.makeUnsafe(millisOf(id)))

/** The first id of an instant in milliseconds. */
export const firstIdAt = (millis: number): RequestId => {
  const hex = Math.max(0, millis).toString(16).padStart(12, "0").slice(-12)
  return RequestId.make(`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`)
}

/** Why a request was refused: the error of its answer. */
export const RefusedBecause = Schema.Struct({
  type: Schema.String,
  code: Schema.Int,
  message: Schema.String,
  param: Schema.optionalKey(Schema.String),
  errors: Schema.optionalKey(Schema.Array(Violation).annotate({ description: "The first 20 of the answer" }))
})
export type RefusedBecause = typeof RefusedBecause.Type

/** What the log has of a request. */
export const LoggedRequest = Schema.Struct({
  id: RequestId,
  method: Schema.String,
  path: Schema.String.annotate({ description: "Without its query" }),
  route: Schema.String.annotate({ description: "The path of the endpoint, such as `/v1/email/messages/:id`" }),
  status: Schema.Int,
  error: Schema.NullOr(RefusedBecause).annotate({ description: "The error of the answer; null for 2xx" }),
  made: Schema.NullOr(Schema.String).annotate({ description: "The path of what the request has made" }),
  duration_ms: Schema.Int,
  key_id: Schema.NullOr(ApiKeyId),
  key_prefix: Schema.NullOr(Schema.String),
  person_id: Schema.NullOr(PersonId).annotate({ description: "The person who made it in the console" }),
  ip: Schema.String
})
export type LoggedRequest = typeof LoggedRequest.Type

/** A request as the API shows it. */
export const RequestRecord = Schema.Struct({ ...LoggedRequest.fields, created_at: Timestamp }).annotate({
  identifier: "RequestRecord"
})
export type RequestRecord = typeof RequestRecord.Type
