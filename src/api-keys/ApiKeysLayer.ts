import { Layer } from "effect"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysHttp } from "./ApiKeysHttp.ts"
import { AuthenticationLayer } from "./AuthenticationLayer.ts"
import { Credentials } from "./Credentials.ts"

/** API keys with their endpoints, and the authentication of every request. */
export const ApiKeysLayer = ApiKeysHttp.pipe(
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(AuthenticationLayer.pipe(Layer.provide(Credentials.layer)))
)
