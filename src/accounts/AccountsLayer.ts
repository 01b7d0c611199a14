import { Layer } from "effect"
import { Accounts } from "./Accounts.ts"
import { AuthHttp } from "./AuthHttp.ts"

/** Accounts with their endpoints. */
export const AccountsLayer = AuthHttp.pipe(Layer.provideMerge(Accounts.layer))
