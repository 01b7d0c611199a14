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

/** An API key as reads show it (spec 2.2): the first 12 characters, never the secret. */
export const ApiKey = Schema.Struct({
  ...fields,
  last_used_at: Schema.NullOr(Timestamp),
  is_active: Schema.Boolean
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** The response to a creation, the only one with `key`. */
export const CreatedApiKey = Schema.Struct({ ...fields, key: Schema.String }).annotate({ identifier: "CreatedApiKey" })
export type CreatedApiKey = typeof CreatedApiKey.Type
