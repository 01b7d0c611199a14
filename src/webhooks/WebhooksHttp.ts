import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { Deliveries } from "./history/Deliveries.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

export const WebhooksHttp = HttpApiBuilder.group(
  baseContract.add(WebhooksApi),
  "webhooks",
  (handlers) =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const history = yield* Deliveries
      return handlers.handleAll({
        list: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* webhooks.list(accountId) }
        }),
        create: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const webhook = yield* webhooks.create(accountId, payload)
          yield* created(`/v1/webhooks/${webhook.id}`)
          return { data: webhook }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* webhooks.find(accountId, params.id) }
        }),
        update: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* webhooks.update(accountId, params.id, payload) }
        }),
        rotateSecret: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* webhooks.rotateSecret(accountId, params.id, payload) }
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* webhooks.remove(accountId, params.id)
          return yield* nothing
        }),
        deliveries: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => history.list({ accountId, id: params.id }, query, window))
        }),
        delivery: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* history.find({ accountId, id: params.id }, params.delivery_id) }
        }),
        test: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* history.test({ accountId, id: params.id }, payload.event) }
        }),
        redeliver: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          const data = yield* history.redeliver({ accountId, id: params.id }, params.delivery_id)
          return { success: true as const, data }
        })
      })
    })
)
