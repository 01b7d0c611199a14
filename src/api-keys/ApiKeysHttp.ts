import { Effect, Layer } from "effect"
import type { CurrentPassword } from "../accounts/CurrentPassword.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { ApiKeysApi } from "./ApiKeysApi.ts"
import { AuthenticationLayer } from "./AuthenticationLayer.ts"
import { authorizeGrant } from "./authorizeGrant.ts"
import { Credentials } from "./Credentials.ts"

/** Handlers of {@link ApiKeysApi}. */
const ApiKeysHttp = endpointGroup(
  baseContract.add(ApiKeysApi),
  "apiKeys",
  (handlers) =>
    Effect.gen(function*() {
      const keys = yield* ApiKeys
      const owner = yield* Effect.context<ApiKeys | CurrentPassword>()
      return handlers.handleAll({
        list: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* keys.list(accountId) }
        }),
        create: Effect.fnUntraced(function*({ payload }) {
          const principal = yield* Principal
          yield* authorizeGrant(principal, payload).pipe(Effect.provideContext(owner))
          const key = yield* keys.create(principal.accountId, payload)
          yield* created(`/v1/api-keys/${key.id}`)
          return { data: key }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* keys.find(accountId, params.id) }
        }),
        rotate: Effect.fnUntraced(function*({ params: { id }, payload: { overlap_seconds, ...own } }) {
          const principal = yield* Principal
          const wanted = { ...(yield* keys.successorOf(principal.accountId, id)), ...own }
          yield* authorizeGrant(principal, wanted).pipe(Effect.provideContext(owner))
          const key = yield* keys.rotate(principal.accountId, { id, overlap_seconds, wanted })
          yield* created(`/v1/api-keys/${key.id}`)
          return { data: key }
        }),
        revoke: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* keys.revoke(accountId, params.id)
          return yield* nothing
        })
      })
    })
)

/** API keys with their endpoints. */
export const ApiKeysLayer = ApiKeysHttp.pipe(Layer.provideMerge(ApiKeys.layer))

/** The authentication of every request, by API keys and login sessions. */
export const CredentialsLayer = AuthenticationLayer.pipe(Layer.provide(Credentials.layer))
