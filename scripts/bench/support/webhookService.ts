/** The part of a node that inserts and delivers events, without its HTTP server. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Schedule } from "effect"
import { Accounts } from "../../../src/accounts/Accounts.ts"
import { Audit } from "../../../src/accounts/Audit.ts"
import { Notices } from "../../../src/accounts/notices/Notices.ts"
import { PlanLimits } from "../../../src/accounts/PlanLimits.ts"
import { domainEvent, Events } from "../../../src/events/Events.ts"
import { Cluster } from "../../../src/platform/cluster/Cluster.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { MainVault } from "../../../src/platform/crypto/MainKey.ts"
import { Database, DatabaseAddress } from "../../../src/platform/database/Database.ts"
import { PublicUrl } from "../../../src/platform/http/PublicUrl.ts"
import { PublicHttp } from "../../../src/platform/net/PublicHttp.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { AccountId, WebhookId } from "../../../src/values/Ids.ts"
import { EventSubscriber } from "../../../src/webhooks/delivery/EventSubscriber.ts"
import { LocalDispatch } from "../../../src/webhooks/delivery/LocalDispatch.ts"
import { WebhookUrlRules } from "../../../src/webhooks/endpoint/WebhookUrlRules.ts"
import { Recoveries } from "../../../src/webhooks/Recoveries.ts"
import { Webhooks } from "../../../src/webhooks/Webhooks.ts"
import { WebhookActors } from "../../../src/webhooks/WebhooksHttp.ts"
import { anyUnfinished } from "./deliveryTables.ts"
import { dataOf } from "./webhookEvent.ts"

let answered = 0

/** Counts answers of the endpoints, so that producers can wait for them. */
const CountedHttp = Layer.effect(
  PublicHttp,
  Effect.map(
    PublicHttp,
    ({ post }) =>
      PublicHttp.of({ post: (request) => Effect.onExit(post(request), () => Effect.sync(() => answered++)) })
  )
)

/** The services that the webhook benches need, with the settings of the environment. */
export const WebhookService = Layer.mergeAll(WebhookActors, Events.layer).pipe(
  Layer.provide(CountedHttp),
  Layer.provide(PublicHttp.layer({ allowLoopback: true, connectionsPerHost: 512 })),
  Layer.provideMerge(EventSubscriber),
  Layer.provide(LocalDispatch.layer),
  Layer.provideMerge([Webhooks.layer, Recoveries.layer]),
  Layer.provide(WebhookUrlRules.layer),
  Layer.provide(Cluster.pipe(Layer.provide(Database.layerCluster))),
  Layer.provide(MainVault),
  Layer.provideMerge(Accounts.layer),
  Layer.provide([Audit.layer, Notices.layer, PlanLimits.layer]),
  Layer.provideMerge(Database.layer),
  Layer.provide([DatabaseAddress.layer, PublicUrl.layer(0)]),
  Layer.provide(AppConfig.layer),
  Layer.provide(NodeServices.layer)
)

/** A webhook and its account, as plain numbers that processes exchange. */
export interface Target {
  readonly accountId: number
  readonly webhookId: number
}

let accounts = 0

/** Creates an account with one webhook at a port of this machine. */
export const listen = Effect.fnUntraced(function*(port: number) {
  const email = EmailAddress.make(`owner${++accounts}.${process.pid}@bench.example`)
  const account = yield* (yield* Accounts).create({ name: "Bench", email, plan: "enterprise", trial: false })
  const url = `http://127.0.0.1:${port}/hook`
  const { id } = yield* (yield* Webhooks).create(account.id, { url, events: ["email.sent"] })
  return { accountId: account.id, webhookId: id } satisfies Target
})

/** Removes a webhook and its deliveries. */
export const unlisten = Effect.fnUntraced(function*({ accountId, webhookId }: Target) {
  yield* (yield* Webhooks).remove(AccountId.make(accountId), WebhookId.make(webhookId))
})

/** Inserts events for the targets in turn, in one transaction. The data of each has a number. */
export const publish = Effect.fnUntraced(
  function*(targets: ReadonlyArray<Target>, { count, from }: { readonly from: number; readonly count: number }) {
    const events = yield* Events
    const happenings = Array.from({ length: count }, (_, offset) => {
      const index = from + offset
      const accountId = AccountId.make(targets[index % targets.length]?.accountId ?? 1)
      return domainEvent({ accountId, event: "email.sent", data: dataOf(index) })
    })
    const { transaction } = yield* Database
    yield* transaction(events.publish(happenings))
  }
)

const perTransaction = 100

/** Inserts events in transactions of a hundred, like the senders. It waits while `unanswered` events have no answer. */
export const publishAll = (targets: ReadonlyArray<Target>, count: number, unanswered: number) =>
  Effect.suspend(() => {
    const before = answered
    const write = Effect.fnUntraced(function*(from: number) {
      while (from + perTransaction - (answered - before) > unanswered) yield* Effect.sleep("1 millis")
      yield* publish(targets, { from, count: perTransaction })
    })
    return Effect.forEach(
      Array.from({ length: count / perTransaction }, (_, index) => index * perTransaction),
      write,
      { concurrency: 2, discard: true }
    )
  })

/** Waits until all deliveries of the targets are recorded as ended. */
export const allDelivered = (targets: ReadonlyArray<Target>) =>
  anyUnfinished(targets.map(({ webhookId }) => webhookId)).pipe(
    Effect.repeat({ while: (busy) => busy, schedule: Schedule.spaced("20 millis") })
  )
