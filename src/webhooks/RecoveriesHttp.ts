import { Effect } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { created } from "../platform/http/RequestContext.ts"
import { Recoveries } from "./Recoveries.ts"
import { RecoveriesApi } from "./RecoveriesApi.ts"

/** The handlers of recoveries. */
export const RecoveriesHttp = endpointGroup(
  baseContract.add(RecoveriesApi),
  "recoveries",
  (handlers) =>
    Effect.gen(function*() {
      const recoveries = yield* Recoveries
      return handlers.handleAll({
        start: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          const data = yield* recoveries.start({ accountId, id: params.id }, payload)
          yield* created(`/v1/webhooks/${params.id}/recoveries/${data.id}`)
          return { data }
        }),
        preview: Effect.fnUntraced(function*({ params, query: { status, ...span } }) {
          const { accountId } = yield* Principal
          const statuses = status === undefined ? {} : { status: [status] }
          return { data: yield* recoveries.preview({ accountId, id: params.id }, { ...span, ...statuses }) }
        }),
        list: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          return yield* page(
            query,
            (window) => recoveries.list({ accountId, id: params.id }, window),
            ({ id }) => [id]
          )
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* recoveries.find({ accountId, id: params.id }, params.recovery_id) }
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          const data = yield* recoveries.cancel({ accountId, id: params.id }, params.recovery_id)
          return { success: true as const, data }
        })
      })
    })
)
