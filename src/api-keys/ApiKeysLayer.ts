import { Layer } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysHttp } from "./ApiKeysHttp.ts"
import { AuthenticationLayer } from "./AuthenticationLayer.ts"
import { Credentials } from "./Credentials.ts"

/** API keys with their endpoints. */
export const ApiKeysLayer = ApiKeysHttp.pipe(Layer.provideMerge(ApiKeys.layer))

/** The authentication of every request, by API keys and login sessions. */
export const CredentialsLayer = AuthenticationLayer.pipe(Layer.provide(Credentials.layer))
