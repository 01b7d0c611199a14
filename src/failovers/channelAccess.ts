import { Effect } from "effect"
import { InsufficientPermission, InsufficientScope } from "../platform/http/ApiErrors.ts"
import type { Principal } from "../platform/http/Authentication.ts"
import type { Permission, Scope } from "../values/Permission.ts"
import type { Step } from "./Failover.ts"

type Channel = Step["channel"]

/** One of the scopes, and the permission. */
type Needs = Readonly<Record<Channel, { readonly scopes: ReadonlyArray<Scope>; readonly permission: Permission }>>

const listing: Needs = {
  whatsapp: { scopes: ["whatsapp:read"], permission: "messages:read" },
  sms: { scopes: ["sms:write"], permission: "sms:read" },
  email: { scopes: ["email:write"], permission: "emails:read" }
}

/** `whatsapp:write` reads a message with steps, so that a sender can follow it, but lists no others. */
const needs = {
  list: listing,
  read: { ...listing, whatsapp: { scopes: ["whatsapp:read", "whatsapp:write"], permission: "messages:read" } },
  write: {
    whatsapp: { scopes: ["whatsapp:write"], permission: "messages:write" },
    sms: { scopes: ["sms:write"], permission: "sms:write" },
    email: { scopes: ["email:write"], permission: "emails:write" }
  }
} satisfies Readonly<Record<string, Needs>>

/** What one does with the messages of a channel. */
export type Purpose = keyof typeof needs

type Caller = Pick<Principal["Service"], "permissions" | "scopes">

/** What a key with scopes or permissions lacks for a channel; undefined if nothing. */
export const lackOf = ({ permissions, scopes }: Caller, to: Purpose, channel: Channel) => {
  const { permission, scopes: needed }: Needs[Channel] = needs[to][channel]
  if (scopes.length > 0 && !needed.some((scope) => scopes.includes(scope))) {
    return new InsufficientScope({ required: needed })
  }
  return permissions.length === 0 || permissions.includes(permission)
    ? undefined
    : new InsufficientPermission({ required: permission })
}

/** The caller needs the channel of each step. The error names the first one that is missing. */
export const requireChannels = (
  caller: Caller,
  to: Purpose,
  steps: ReadonlyArray<{ readonly channel: Channel }>
): Effect.Effect<void, InsufficientScope | InsufficientPermission> => {
  const lack = steps.map(({ channel }) => lackOf(caller, to, channel)).find((one) => one !== undefined)
  return lack === undefined ? Effect.void : Effect.fail(lack)
}
