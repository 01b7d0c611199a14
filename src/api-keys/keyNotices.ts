import type { Notice } from "../accounts/Notice.ts"
import type { AccountId, ApiKeyId } from "../values/Ids.ts"

interface OwnedKey {
  readonly accountId: AccountId
  readonly id: ApiKeyId
  readonly name: string
}

/** Told when a key was made by a request, as whoever has got hold of a key or a session may have made it. */
export const keyCreatedNotice = ({ accountId, id, name }: OwnedKey): Notice => ({
  accountId,
  kind: "key_created",
  subject: `A new API key was made: ${name}`,
  body: `The API key ${id}, "${name}", was made for your account.\n\n`
    + `If it was not you, revoke it (DELETE /v1/api-keys/${id}), then every other key that you do not know.`
})

/** Told when a key was revoked: whatever used it is refused from now on. */
export const keyRevokedNotice = ({ accountId, id, name }: OwnedKey): Notice => ({
  accountId,
  kind: "key_revoked",
  subject: `An API key was revoked: ${name}`,
  body: `The API key ${id}, "${name}", was revoked. Programs that use it are refused from now on.\n\n`
    + "If it was not you, look at your other keys (GET /v1/api-keys) and set another password."
})
