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
