import { Effect } from "effect"
import { InsufficientPermission, InsufficientScope } from "../platform/http/ApiErrors.ts"
import type { Principal } from "../platform/http/Authentication.ts"
import type { Permission, Scope } from "../values/Permission.ts"
import type { Step } from "./Failover.ts"

type Channel = Step["channel"]

/** One of the scopes, and the permission. */
type Needs = Readonly<Record<Channel, { readonly scopes: ReadonlyArray<Scope>; readonly permission: Permission }>>

const needs: Readonly<Record<"read" | "write", Needs>> = {
  read: {
    whatsapp: { scopes: ["whatsapp:read", "whatsapp:write"], permission: "messages:read" },
    sms: { scopes: ["sms:write"], permission: "sms:read" },
    email: { scopes: ["email:write"], permission: "emails:read" }
  },
  write: {
    whatsapp: { scopes: ["whatsapp:write"], permission: "messages:write" },
    sms: { scopes: ["sms:write"], permission: "sms:write" },
    email: { scopes: ["email:write"], permission: "emails:write" }
  }
}

/**
 * A key with scopes or permissions needs those of the channel of each step. `whatsapp:write` also reads, so that a sender can
 * follow its message. The error names the first channel that is missing.
 */
export const requireChannels = (
  { permissions, scopes }: Pick<Principal["Service"], "permissions" | "scopes">,
  to: "read" | "write",
  steps: ReadonlyArray<{ readonly channel: Channel }>
): Effect.Effect<void, InsufficientScope | InsufficientPermission> => {
  const asked = steps.map(({ channel }) => needs[to][channel])
  const missing = scopes.length === 0
    ? undefined
    : asked.find((one) => !one.scopes.some((scope) => scopes.includes(scope)))
  if (missing !== undefined) return Effect.fail(new InsufficientScope({ required: missing.scopes }))
  const lacking = permissions.length === 0
    ? undefined
    : asked.find(({ permission }) => !permissions.includes(permission))
  return lacking === undefined
    ? Effect.void
    : Effect.fail(new InsufficientPermission({ required: lacking.permission }))
}
