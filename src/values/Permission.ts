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
  "account",
  "members",
  "requests"
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

/** What a person is in an account. */
export const Role = Schema.Literals(["owner", "admin", "developer", "support"])
export type Role = typeof Role.Type

const reads = Permission.literals.filter((permission) => permission.endsWith(":read"))

/**
 * The permissions of each role, as those of an API key: an empty list is all of them. What only the owner may do, such as
 * deleting the account, no permission gives.
 */
export const permissionsOf: Readonly<Record<Role, ReadonlyArray<Permission>>> = {
  owner: [],
  admin: [],
  developer: Permission.literals.filter((permission) => permission !== "account:write"),
  support: reads
}

/** What a page needs: a permission, or to be the owner. */
export type Need = Permission | "owner"

/** Whether a role has what is needed. */
export const allows = (role: Role, permission: Need | undefined): boolean =>
  permission === "owner"
    ? role === permission
    : permission === undefined || permissionsOf[role].length === 0 || permissionsOf[role].includes(permission)
