import { Schema } from "effect"
import { ApiKeyId } from "../values/Ids.ts"
import { Permission, Scope } from "../values/Permission.ts"
import { Mode } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"

const fields = {
  id: ApiKeyId,
  name: Schema.String,
  key_prefix: Schema.String,
  mode: Mode,
  scopes: Schema.Array(Scope),
  permissions: Schema.Array(Permission),
  expires_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}

const count = Schema.Int

/** The answers to the requests with a key, by the class of their status. */
const KeyRequests = Schema.Struct({
  succeeded: count.annotate({ description: "Below 400" }),
  refused: count.annotate({ description: "From 400 to 499" }),
  failed: count.annotate({ description: "From 500 on" })
}).annotate({ identifier: "KeyRequests" })

/** An API key as reads show it (spec 2.2): the first 12 characters, never the secret. */
export const ApiKey = Schema.Struct({
  ...fields,
  last_used_at: Schema.NullOr(Timestamp).annotate({ description: "Recorded at most once a minute, as the next two" }),
  last_used_ip: Schema.NullOr(Schema.String).annotate({ description: "The address of that request" }),
  last_used_endpoint: Schema.NullOr(Schema.String).annotate({
    description: "The method and the endpoint of that request, such as `GET /v1/email/messages/{id}`"
  }),
  requests: KeyRequests.annotate({
    description: "Of today and the six days before, in UTC. Counted within some seconds of the answer"
  }),
  rotated_at: Schema.NullOr(Timestamp).annotate({ description: "When another key replaced this one" }),
  is_active: Schema.Boolean
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** A key as its row is made. */
export const InsertedKey = Schema.Struct(fields)

/** The response to a creation. Besides that to a rotation, it is the only one with `key`. */
export const CreatedApiKey = Schema.Struct({ ...fields, key: Schema.String }).annotate({ identifier: "CreatedApiKey" })
export type CreatedApiKey = typeof CreatedApiKey.Type

/** The response to a rotation: the new key, and the end of the one that it replaces. */
export const RotatedApiKey = Schema.Struct({
  ...CreatedApiKey.fields,
  previous: Schema.Struct({ id: ApiKeyId, expires_at: Timestamp }).annotate({
    description: "The key that this one replaces, and when it ends"
  })
}).annotate({ identifier: "RotatedApiKey" })
export type RotatedApiKey = typeof RotatedApiKey.Type
