import { Effect } from "effect"
import { CurrentPassword } from "../accounts/CurrentPassword.ts"
import { everyPermission, InsufficientPermission, LiveKeyRequired } from "../platform/http/ApiErrors.ts"
import type { Principal } from "../platform/http/Authentication.ts"
import { ownerOf } from "../values/TestMode.ts"
import { FreshLoginRequired, KeyOutlivesCaller } from "./ApiKeyErrors.ts"
import { ApiKeys } from "./ApiKeys.ts"
import type { NewApiKey } from "./ApiKeysApi.ts"

/** Checks the owner's password, if the request has it. The shadow account of a test key has none. */
const confirmOwner = Effect.fnUntraced(
  function*({ accountId }: Principal["Service"], { current_password: password }: NewApiKey) {
    if (password === undefined) return false
    yield* (yield* CurrentPassword).check(ownerOf(accountId), password)
    return true
  }
)

/** The first permission that the caller's key lacks and the wanted key would have. */
const missingPermission = ({ permissions: own }: Principal["Service"], { permissions: wanted = [] }: NewApiKey) =>
  own.length === 0
    ? undefined
    : wanted.length === 0
    ? everyPermission
    : wanted.find((permission) => !own.includes(permission))

/**
 * Refuses a key that gives more than its caller has, so that a leaked credential does not grow. A test key creates no
 * live key. The current password lifts this for rights. For time, so does a login of the last minutes, but a key with an
 * end never creates one that ends later.
 */
export const authorizeGrant = Effect.fnUntraced(function*(principal: Principal["Service"], wanted: NewApiKey) {
  if (principal.mode === "test" && wanted.mode === "live") return yield* new LiveKeyRequired()
  const isOwner = yield* confirmOwner(principal, wanted)
  const missing = missingPermission(principal, wanted)
  if (missing !== undefined && !isOwner) return yield* new InsufficientPermission({ required: missing })
  const { expiresAt: expires_at, isFreshLogin, keyId } = principal
  if (expires_at === null || (keyId === undefined && (isFreshLogin || isOwner))) return
  if (!(yield* (yield* ApiKeys).endsAfter(wanted.expires_at ?? null, expires_at))) return
  return yield* keyId === undefined ? new FreshLoginRequired({ expires_at }) : new KeyOutlivesCaller({ expires_at })
})
