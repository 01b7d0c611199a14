import { Layer } from "effect"
import { AccountHttp } from "./AccountHttp.ts"
import { AccountRemoval } from "./AccountRemoval.ts"
import { Accounts } from "./Accounts.ts"
import { AccountSettings } from "./AccountSettings.ts"
import { Audit } from "./Audit.ts"
import { AuthHttp } from "./AuthHttp.ts"
import { Notices } from "./Notices.ts"
import { PasswordResets } from "./PasswordResets.ts"

/** Accounts with their endpoints, notices and audit log. Requires `Erasure`. */
export const AccountsLayer = Layer.merge(AuthHttp, AccountHttp).pipe(
  Layer.provideMerge(Layer.mergeAll(Accounts.layer, AccountSettings.layer, PasswordResets.layer, AccountRemoval.layer)),
  Layer.provideMerge(Layer.mergeAll(Audit.layer, Notices.layer))
)
