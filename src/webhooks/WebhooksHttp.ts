import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { eraseByScan, type ErasureStep } from "../accounts/Erasure.ts"
import { Events } from "../events/Events.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { AccountId, WebhookId } from "../values/Ids.ts"
import { DeliveryOutcomes } from "./delivery/DeliveryOutcomes.ts"
import { queueStatuses } from "./delivery/DeliveryState.ts"
import { EventSubscriber } from "./delivery/EventSubscriber.ts"
import { DeliveryBudget } from "./delivery/InFlightDeliveries.ts"
import { LocalDispatch } from "./delivery/LocalDispatch.ts"
import { WebhookSweeper } from "./delivery/WakeUps.ts"
import { WebhookActor } from "./delivery/WebhookActor.ts"
import { UnhealthyNotifier } from "./endpoint/UnhealthyNotifier.ts"
import { Targets } from "./endpoint/WebhooksRepo.ts"
import { WebhookUrlRules } from "./endpoint/WebhookUrlRules.ts"
import { Deliveries } from "./history/Deliveries.ts"
import { WebhookFigures } from "./history/WebhookFigures.ts"
import { Recoveries } from "./Recoveries.ts"
import { RecoveriesHttp } from "./RecoveriesHttp.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

/** The most deliveries of a removed webhook that one statement deletes. */
const maxDeliveries = 1_000

/** Deletes the figures of a removed webhook and some of its deliveries, the newest first; returns how many. */
export const eraseDeliveries = Effect.fnUntraced(function*(id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  const waiting = queueStatuses.map((place) =>
    sql`(select ctid from webhook_queue where webhook_id = ${id} and status = ${
      sql.literal(`'${place}'`)
    } limit ${maxDeliveries})`
  )
  const queued = yield* Query.rowCount(
    sql`delete from webhook_queue where ctid = any(array(${sql.join(" union all ", false)(waiting)}))
    returning 1`
  )
  const ended = yield* Query.rowCount(sql`delete from webhook_deliveries where webhook_id = ${id} and id >= (
      select min(id) from (
        select id from webhook_deliveries where webhook_id = ${id} order by id desc limit ${maxDeliveries}) as last)
    returning 1`)
  yield* Query.run(sql`delete from webhook_attempt_counts where webhook_id = ${id}`)
  return queued + ended
})

const eraseWebhooks: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Query.rowCount(sql`with gone as (
      delete from webhooks where account_id = ${accountId} returning id
    ), remains as (
      insert into removed_webhooks (webhook_id, account_id) select id, ${accountId}::bigint from gone
    )
    select id from gone`)
})

const eraseHistory: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  const removed = Query.findAll({
    Request: AccountId,
    Result: Schema.Struct({ webhook_id: WebhookId }),
    execute: (id) => sql`select webhook_id from removed_webhooks where account_id = ${id}`
  })
  for (const { webhook_id } of yield* removed(accountId)) {
    const erased = yield* eraseDeliveries(webhook_id)
    if (erased > 0) return erased
  }
  // An attempt that was in flight may have left one more row until now.
  return yield* Query.rowCount(sql`delete from removed_webhooks
    where account_id = ${accountId} and removed_at < now() - interval '10 minutes' returning 1`)
})

/** Erases the webhooks with their secrets, their deliveries, and then the events. */
export const webhooksErasure: ReadonlyArray<ErasureStep> = [
  { name: "webhooks", atOnce: (accountId) => Effect.asVoid(eraseWebhooks(accountId)), some: eraseWebhooks },
  { name: "webhook deliveries", some: eraseHistory },
  { name: "events", some: eraseByScan("events", "id") }
]

const WebhooksHttp = endpointGroup(
  baseContract.add(WebhooksApi),
  "webhooks",
  (handlers) =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const history = yield* Deliveries
      const figures = yield* WebhookFigures
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => webhooks.list(accountId, window), ({ id }) => [id])
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
        statistics: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* figures.of({ accountId, id: params.id }) }
        }),
        deliveries: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          const webhook = { accountId, id: params.id }
          return yield* page(query, (window) => history.list(webhook, query, window), ({ id }) => [id])
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

const Transport = Layer.unwrap(Effect.gen(function*() {
  const { webhookTimeoutSeconds } = yield* AppConfig
  const { allowLoopback } = yield* WebhookUrlRules
  return PublicHttp.layer({ allowLoopback, timeout: `${webhookTimeoutSeconds} seconds`, maxBodyBytes: 4 * 1024 })
}))

/** The webhook actors and the services that they share on a node. They need a `PublicHttp`. */
export const WebhookActors = Layer.mergeAll(WebhookSweeper, WebhookActor).pipe(
  Layer.provide(DeliveryOutcomes.layer),
  Layer.provide(UnhealthyNotifier.layer),
  Layer.provide(Events.layer),
  Layer.provide(EventSubscriber),
  Layer.provide(DeliveryBudget.layer),
  Layer.provideMerge(Targets.layer),
  Database.onQueuePool
)

/** The webhooks API, its actors, and the subscriber of events. */
export const WebhooksLayer = Layer.merge(WebhooksHttp, RecoveriesHttp).pipe(
  Layer.provideMerge(Deliveries.layer),
  Layer.provideMerge(WebhookFigures.layer),
  Layer.provideMerge(Recoveries.layer),
  Layer.provide(WebhookActors),
  Layer.provide(Transport),
  Layer.provideMerge(EventSubscriber),
  Layer.provide(LocalDispatch.layer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer)
)
