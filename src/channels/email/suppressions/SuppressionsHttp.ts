import { Effect } from "effect"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created, nothing } from "../../../platform/http/RequestContext.ts"
import { Suppressions } from "./Suppressions.ts"
import { SuppressionsApi } from "./SuppressionsApi.ts"

/** Serves {@link SuppressionsApi}. */
export const SuppressionsHttp = endpointGroup(
  baseContract.add(SuppressionsApi),
  "suppressions",
  (handlers) =>
    Effect.gen(function*() {
      const suppressions = yield* Suppressions
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) =>
            suppressions.list(accountId, query, window), ({ created_at, email }) => [created_at, email])
        }),
        add: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const suppression = yield* suppressions.add(accountId, payload.email)
          yield* created(`/v1/email/suppressions/${encodeURIComponent(suppression.email)}`)
          return { data: suppression }
        }),
        addMany: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* suppressions.addMany(accountId, payload.emails) }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* suppressions.find(accountId, params.email) }
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* suppressions.remove(accountId, params.email)
          return yield* nothing
        })
      })
    })
)
