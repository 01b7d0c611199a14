import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { ApiKeyId, pathId } from "../values/Ids.ts"
import { CursorPaged, cursorQuery, Data, StatusFilter } from "../values/Page.ts"
import { textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { RequestId, RequestRecord } from "./RequestRecord.ts"

/** The methods of the API. */
export const Method = Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE"])

const reading = Access.full("requests:read")

const list = HttpApiEndpoint.get("list", "/requests", {
  query: {
    ...cursorQuery,
    request_id: Schema.optionalKey(RequestId),
    status: Schema.optionalKey(StatusFilter).annotate({ description: "A status such as 422, or a class such as 4xx" }),
    error_type: Schema.optionalKey(textBetween(1, 64)).annotate({ description: "`error.type` of the answer" }),
    method: Schema.optionalKey(Method),
    path: Schema.optionalKey(textBetween(1, 500)).annotate({ description: "The beginning of the path" }),
    key_id: Schema.optionalKey(pathId(ApiKeyId)),
    recipient: Schema.optionalKey(textBetween(1, 320)).annotate({
      description:
        "An email address, or a phone number with its country code: the sends to it that were refused. The log has hashes of the first 10 recipients of such a request, if its body has at most 256 KiB"
    }),
    from_date: Schema.optionalKey(TimestampInput),
    to_date: Schema.optionalKey(TimestampInput)
  },
  success: CursorPaged(RequestRecord),
  error: apiErrors(ValidationFailed)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "List requests",
  description:
    "The requests of the account, newest first: all that change something, and all that were refused. A request appears about a second after its answer, and is kept for 7 days by default. Reads that succeed are not kept, nor are those of this log, and no body is. from_date is inclusive and to_date exclusive. A filter looks at the newest 100,000 requests of this time; among those that were refused, at 100,000 of them. The list has no total; continue with cursor."
}))

const get = HttpApiEndpoint.get("get", "/requests/:request_id", {
  params: { request_id: RequestId },
  success: Data(RequestRecord),
  error: apiErrors(NotFound)
}).annotate(Access.Access, reading).annotateMerge(OpenApi.annotations({
  summary: "Read a request",
  description:
    "What became of a request: the error of its answer, or the path of what it has made. The id is `X-Request-Id` of the answer, which is also `meta.request_id`."
}))

/** The log of requests. */
export class RequestsApi extends HttpApiGroup.make("requests")
  .add(list, get)
  .prefix("/v1")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "Requests",
    description: "What each request did, and why it was refused."
  }))
{}
