import type { Principal } from "../../platform/http/Authentication.ts"
import { permissionsOf } from "../../values/Permission.ts"
import { modeOf } from "../../values/TestMode.ts"
import type { AccountAsk } from "./Ask.ts"

/** The caller that a signed-in person is for the API, in the account of the page. */
export const principalOf = ({ account, accountId, signedIn }: AccountAsk): Principal["Service"] => ({
  accountId,
  mode: modeOf(accountId),
  keyId: undefined,
  sessionId: undefined,
  person: { id: signedIn.person.id, role: account.role },
  expiresAt: signedIn.expires_at,
  isFreshLogin: signedIn.is_fresh,
  scopes: [],
  permissions: permissionsOf[account.role],
  plan: account.plan,
  awaitsConfirmation: account.awaits_confirmation,
  trial: account.trial
})
