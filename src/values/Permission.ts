import { Schema } from "effect"

const resources = [
  "sessions",
  "messages",
  "contacts",
  "groups",
  "emails",
  "domains",
  "templates",
  "sms",
  "verify",
  "webhooks",
  "keys",
  "account"
] as const

/** Permissions of an API key: `resource:read` or `resource:write`. Scopes apply as well. */
export const Permission = Schema.Literals(
  resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const)
)
export type Permission = typeof Permission.Type

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
