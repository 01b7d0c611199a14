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

/** Fine-grained permissions of an API key: `resource:read` or `resource:write`, AND-ed with its scopes. */
export const Permission = Schema.Literals(
  resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const)
)
export type Permission = typeof Permission.Type
