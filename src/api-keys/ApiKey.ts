import { Schema } from "effect"
import { ApiKeyId } from "../values/Ids.ts"
import { Permission } from "../values/Permission.ts"
import { Scope } from "../values/Scope.ts"
import { Timestamp } from "../values/Timestamp.ts"

const fields = {
  id: ApiKeyId,
  name: Schema.String,
  key_prefix: Schema.String,
  scopes: Schema.Array(Scope),
  permissions: Schema.Array(Permission),
  expires_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}

/** An API key as reads show it (spec 2.2): never its secret, only the first 12 characters. */
export const ApiKey = Schema.Struct({
  ...fields,
  last_used_at: Schema.NullOr(Timestamp),
  is_active: Schema.Boolean
})
export type ApiKey = typeof ApiKey.Type

/** The answer of the creation, the only place that shows `key`. */
export const CreatedApiKey = Schema.Struct({ ...fields, key: Schema.String })
export type CreatedApiKey = typeof CreatedApiKey.Type
