import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import {
  InsufficientPermission,
  LiveKeyRequired,
  NotFound,
  PlanLimitExceeded,
  RateLimitExceeded,
  ValidationFailed
} from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { ApiKeyId, pathId } from "../values/Ids.ts"
import { absentBody, overlapSeconds } from "../values/Overlap.ts"
import { Data, Nothing } from "../values/Page.ts"
import { Permission, Scope } from "../values/Permission.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { ApiKey, CreatedApiKey, RotatedApiKey } from "./ApiKey.ts"
import { FreshLoginRequired, KeyNotRotatable, KeyOutlivesCaller } from "./ApiKeyErrors.ts"

/** A new key. Absent fields mean full access and no expiry. */
export const NewApiKey = Schema.Struct({
  name: lineBetween(1, 100),
  scopes: Schema.optionalKey(Schema.Array(Scope).check(Schema.isMaxLength(20))),
  permissions: Schema.optionalKey(Schema.Array(Permission).check(Schema.isMaxLength(50))),
  expires_at: Schema.optionalKey(Schema.NullOr(TimestampInput)),
  mode: Schema.optionalKey(
    Schema.Literals(["live", "test"]).annotate({
      description:
        "test: messages go to the sandbox, and nothing of the key mixes with live data. Absent: the mode of the caller's key. A test key creates test keys only"
    })
  ),
  current_password: Schema.optionalKey(
    textBetween(1, 128).annotate({
      description:
        "Proves that the owner asks: required for a key with more rights than the caller's, and for a key that outlives a login older than 15 minutes"
    })
  )
}).annotate({ identifier: "NewApiKey" })
export type NewApiKey = typeof NewApiKey.Type

/** The body of a rotation. Absent fields mean a day for the previous key, and as much time for the new one as it had. */
const KeyRotation = Schema.Struct({
  overlap_seconds: overlapSeconds(
    "How many seconds the previous key still works. It never works longer than it would have without the rotation"
  ),
  expires_at: Schema.optionalKey(
    Schema.NullOr(TimestampInput).annotate({
      description:
        "The end of the new key, null for none. Absent: it lives as long as the previous key was made to live"
    })
  ),
  current_password: NewApiKey.fields.current_password
}).annotate({ identifier: "KeyRotation" })

const params = { id: pathId(ApiKeyId) }

const list = HttpApiEndpoint.get("list", "/", { success: Data(Schema.Array(ApiKey)) })
  .annotate(Access.Access, Access.full("keys:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "List API keys",
    description:
      "All keys of the account, newest first; a test key sees test keys only. An expired key stays in the list for 90 days and does not count towards the limit."
  }))

const refusals = [
  PlanLimitExceeded,
  InsufficientPermission,
  FreshLoginRequired,
  KeyOutlivesCaller,
  LiveKeyRequired,
  RateLimitExceeded,
  ValidationFailed
] as const

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewApiKey,
  success: Data(CreatedApiKey).pipe(HttpApiSchema.status(201)),
  error: apiErrors(...refusals)
})
  .annotate(Access.Access, Access.full("keys:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Create an API key",
    description:
      "Only this response contains the key. If you lose it, revoke the key and create another one. A key creates keys within its own rights and its own end only."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: Data(ApiKey), error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("keys:read"))
  .annotateMerge(OpenApi.annotations({ summary: "Read an API key", description: "All fields except the secret." }))

const rotate = HttpApiEndpoint.post("rotate", "/:id/rotate", {
  params,
  payload: [KeyRotation, absentBody(KeyRotation)],
  success: Data(RotatedApiKey).pipe(HttpApiSchema.status(201)),
  error: apiErrors(NotFound, KeyNotRotatable, ...refusals)
})
  .annotate(Access.Access, Access.full("keys:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Rotate an API key",
    description:
      "Creates a key with the name, mode, scopes and permissions of this one, which still works during the overlap. Only this response contains the new key. The rules of creating keys hold: the caller needs the rights of the key, and must not end before the new one. overlap_seconds: 0 ends the previous key at once. A key is rotated once. During the overlap an account may have one key more than its plan allows."
  }))

const revoke = HttpApiEndpoint.delete("revoke", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("keys:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Revoke an API key",
    description: "Every node refuses the key with 401 at once."
  }))

/** API keys (spec 4.1). */
export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(list, create, get, rotate, revoke)
  .prefix("/v1/api-keys")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "Keys of programs that call this API." }))
{}
