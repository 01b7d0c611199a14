import { Schema } from "effect"

/** Channel scopes of an API key (spec 4.1). A key without scopes can use all channels. */
export const Scope = Schema.Literals([
  "whatsapp:read",
  "whatsapp:write",
  "sms:write",
  "email:write",
  "verify:write",
  "account:read"
])
export type Scope = typeof Scope.Type
