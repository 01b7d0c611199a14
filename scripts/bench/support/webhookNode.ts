/**
 * The part of a node that writes events and delivers them, without HTTP in front: makes a webhook in each of as many
 * accounts as there are receivers, writes events in transactions of a hundred, as the senders do, and says how many a
 * second were in the end delivered and written down, with the time of their insertion.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/accounts/Accounts.ts"
import { Events, happening } from "../../../src/events/Events.ts"
import { Cluster } from "../../../src/platform/cluster/Cluster.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { MainVault } from "../../../src/platform/crypto/MainKey.ts"
import { ClusterDatabase, Database, DatabaseAddress } from "../../../src/platform/database/Database.ts"
import { transaction } from "../../../src/platform/database/transaction.ts"
import { PublicHttp } from "../../../src/platform/net/PublicHttp.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { Outcomes } from "../../../src/webhooks/Outcomes.ts"
import { SubscriberLayer } from "../../../src/webhooks/SubscriberLayer.ts"
import { WebhookActor } from "../../../src/webhooks/WebhookActor.ts"
import { Webhooks } from "../../../src/webhooks/Webhooks.ts"
import { WebhookSweeper } from "../../../src/webhooks/WebhookSweeper.ts"
import { WebhookUrlRules } from "../../../src/webhooks/WebhookUrlRules.ts"
import { inputOf } from "./script.ts"
import { dataOf } from "./webhookEvent.ts"

const perTransaction = 100

const { ports, rounds, events: count, warmUp } = inputOf<{
  readonly ports: ReadonlyArray<number>
  readonly warmUp: number
  readonly events: number
  readonly rounds: number
}>()

const Node = Layer.mergeAll(WebhookSweeper, WebhookActor.pipe(Layer.provide(Outcomes.layer)), Events.layer).pipe(
  Layer.provide(PublicHttp.layer({ allowLoopback: true })),
  Layer.provideMerge(SubscriberLayer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer),
  Layer.provide(MainVault),
  Layer.provide(Cluster.pipe(Layer.provide(ClusterDatabase))),
  Layer.provideMerge(Accounts.layer),
  Layer.provideMerge(Database),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(AppConfig.layer),
  Layer.provide(NodeServices.layer)
)

const listen = Effect.fnUntraced(function*(port: number) {
  const email = EmailAddress.make(`owner${port}.${process.pid}@bench.example`)
  const account = yield* (yield* Accounts).create({ name: "Bench", email, plan: "enterprise", trial: false })
  yield* (yield* Webhooks).create(account.id, { url: `http://127.0.0.1:${port}/hook`, events: ["email.sent"] })
  return account.id
})

const publish = Effect.fnUntraced(function*(accounts: ReadonlyArray<AccountId>, from: number) {
  const events = yield* Events
  const accountOf = (index: number) => accounts.at(index % accounts.length) ?? AccountId.make(1)
  const happenings = Array.from({ length: perTransaction }, (_, index) =>
    happening({
      accountId: accountOf(from + index),
      event: "email.sent",
      data: dataOf(from + index)
    }))
  yield* transaction(events.publish(happenings))
})

/** Nothing waits, and nothing is in the hands of an actor. */
const allDelivered = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select exists (select from webhook_deliveries where status in ('pending', 'retrying'))
    or exists (select from webhook_deliveries where status = 'taken') as busy`.pipe(
    Effect.repeat({ until: ([row]) => row?.["busy"] === false, schedule: Schedule.spaced("20 millis") })
  )
})

const deliver = Effect.fnUntraced(function*(accounts: ReadonlyArray<AccountId>, total: number) {
  const startedAt = performance.now()
  const starts = Array.from({ length: total / perTransaction }, (_, index) => index * perTransaction)
  yield* Effect.forEach(starts, (from) => publish(accounts, from), { concurrency: 2, discard: true })
  yield* allDelivered
  return total / ((performance.now() - startedAt) / 1000)
})

const program = Effect.gen(function*() {
  const accounts = yield* Effect.forEach(ports, listen)
  yield* deliver(accounts, warmUp)
  const perSecond = yield* Effect.replicateEffect(deliver(accounts, count), rounds)
  yield* Console.log(JSON.stringify({ perSecond }))
})

NodeRuntime.runMain(program.pipe(Effect.provide(Node)))
