import { Duration, Effect, Layer, Random } from "effect"
import { Entity, ShardId, Sharding, ShardingConfig } from "effect/cluster"
import { domainEvent, Events } from "../../src/events/Events.ts"
import { Database } from "../../src/platform/database/Database.ts"
import { PublicUrl } from "../../src/platform/http/PublicUrl.ts"
import { PublicHttp, PublicHttpFailure } from "../../src/platform/net/PublicHttp.ts"
import { AccountId, WhatsAppSessionId } from "../../src/values/Ids.ts"
import { DeliveryOutcomes } from "../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { EventSubscriber } from "../../src/webhooks/delivery/EventSubscriber.ts"
import { DeliveryBudget } from "../../src/webhooks/delivery/InFlightDeliveries.ts"
import { LocalDispatch } from "../../src/webhooks/delivery/LocalDispatch.ts"
import { QueueRepo } from "../../src/webhooks/delivery/QueueRepo.ts"
import { webhookActor } from "../../src/webhooks/delivery/WebhookActor.ts"
import { WebhookEntity } from "../../src/webhooks/delivery/WebhookEntity.ts"
import { UnhealthyNotifier } from "../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import { Targets } from "../../src/webhooks/endpoint/WebhooksRepo.ts"
import { noLease, type Receiver, type Verdict } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Settings, vaultOf } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const statuses: Record<Verdict, number> = { accepted: 200, refused: 500, deferred: 503, unavailable: 429, lost: 0 }

const itemOf = (delivery: unknown) => `delivery ${delivery}`

const endpoint = (node: VirtualNode, { receive }: Receiver) =>
  Layer.succeed(
    PublicHttp,
    PublicHttp.of({
      post: Effect.fnUntraced(function*(request) {
        const headers = request.headers()
        const item = itemOf(headers["X-Service-Delivery-Id"])
        const verdict = yield* receive({ node, item, claim: Number(headers["X-Service-Attempt"]), lease: noLease })
        if (verdict === "lost") {
          return yield* new PublicHttpFailure({ reason: "timeout", detail: "no answer", durationMs: 10_000 })
        }
        const status = statuses[verdict]
        const kind = status === 200 ? "success" : "refusal"
        return {
          status,
          kind,
          location: undefined,
          retryAfter: undefined,
          body: Buffer.from(""),
          truncated: false,
          durationMs: 1
        }
      })
    })
  )

/** An event about a session. */
const connected = domainEvent({
  accountId: AccountId.make(1),
  event: "session.connected",
  data: { session_id: WhatsAppSessionId.make(1), phone_number: "+15550100300" }
})

/** Publishes events on the node. If the actor is awake on it, they reach it by local dispatch. */
const publish = Effect.gen(function*() {
  const { transaction } = yield* Database
  const { publish } = yield* Events
  const count = yield* Random.nextIntBetween(1, 2)
  yield* transaction(publish(Array.from({ length: count }, () => connected)))
})

/** Publishes some events one after the other. */
const publishSome = Effect.repeat(
  Effect.andThen(Effect.flatMap(Random.nextIntBetween(100, 1_500), Effect.sleep), Effect.exit(publish)),
  { times: 12 }
)

/** The actor of the webhook, while the node has its shard. The sweeper runs beside it, and so does what publishes events. */
const owned = Effect.scoped(Effect.gen(function*() {
  const client = yield* Entity.makeTestClient(WebhookEntity, webhookActor(Duration.seconds(15)))
  const { findStalled } = yield* QueueRepo
  yield* Effect.forkScoped(publishSome)
  const sweep = Effect.gen(function*() {
    const stalled = yield* findStalled()
    for (const { id, reason } of stalled) {
      const { Wake } = yield* client(String(id))
      yield* Effect.forkScoped(Wake({ reason }))
    }
  })
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(sweep), Effect.sleep("1 second")))
}))

/** All wake-ups get lost, so the sweeper finds the events that no actor got by local dispatch. */
const NoWakeUps = Layer.mock(Sharding.Sharding)({
  getShardId: () => ShardId.make("default", 1),
  hasShardId: () => false,
  makeClient: () =>
    Effect.succeed(() => {
      throw new Error("a wake-up gets lost")
    })
})

const Services = Layer.mergeAll(
  DeliveryOutcomes.layer,
  DeliveryBudget.layer,
  Targets.layer,
  QueueRepo.layer,
  Events.layer.pipe(Layer.provide(EventSubscriber), Layer.provide(NoWakeUps))
).pipe(
  Layer.provideMerge(Layer.mergeAll(
    vaultOf(Buffer.from(`whsec_${Buffer.alloc(32, 7).toString("base64")}`)),
    Settings,
    ShardingConfig.layer(),
    LocalDispatch.layer,
    Layer.provide(PublicUrl.layer(0), Settings),
    Layer.mock(UnhealthyNotifier)({ notify: () => Effect.void })
  ))
)

/** So many events at once. More than an actor has in flight wait in its memory. */
const counts = [[3, 1, 4], [1, 12, 20]] as const

/** Adds events. Each id is new, because no two transactions have the same microsecond. */
const newEvents = `insert into events (id, account_id, name, body)
  select 'evt_' || ulid_time(now()) || to_char(now(), 'SSUS') || n, 1, 'email.sent', 'x'
  from generate_series(1, $1::integer) n
  returning id`

const accepted = `with event as (${newEvents})
  insert into webhook_queue (webhook_id, event_id, event, status) select 1, id, 'email.sent', 'pending' from event`

/** An outage has ended: all its deliveries failed or were skipped, and a recovery queues them again unless one runs. */
const outage = `with event as (${newEvents}), ended as (
    insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
    select 1, nextval('webhook_delivery_ids'), id, 'email.sent',
      case ascii(right(id, 1)) % 2 when 0 then 'failed' else 'skipped' end, 1, now() from event
  )
  insert into webhook_recoveries (webhook_id, since, until, statuses, position, ends_at, counted_to)
  values (1, now() - interval '1 hour', now(), array['failed', 'skipped'], 'evt_',
    'evt_' || ulid_time(now() + interval '1 ms'), 'evt_')
  on conflict (webhook_id) where completed_at is null do nothing`

/** What is wrong with a recovery at the end of a run, or null. */
const recoveryFault = `case
  when r.completed_at is null then 'has no end'
  when r.delivered + r.failed <> r.queued then 'has counted wrong'
  when exists (select from webhook_deliveries d where d.status <> 'delivered' and d.requeued_as is null
    and d.event_id < r.ends_at and d.completed_at <= r.created_at) then 'has missed a delivery'
  end`

/** What is wrong with the deliveries of an event, or null: each one but the first replaces an earlier one. */
const eventFault = `case when count(*) - count(distinct requeued_as) <> 1 then 'was queued without need, or lost' end`

/** The deliveries of a webhook, which the owner of its shard sends, and recoveries of those that failed. */
export const webhooks: Workload = {
  name: "webhook deliveries",
  tables: ["webhooks", "webhook_queue", "webhook_deliveries", "webhook_recoveries", "events"],
  setup: [
    `insert into webhooks (account_id, url, events, secret, secret_prefix)
      values (1, 'https://hooks.example/', array['*'], '', 'whsec_')`,
    "select setval('webhook_delivery_ids', 1, false)"
  ],
  faults: { pauses: [[1, 0, 0], [2, 0, 6_000]] },
  rows: {
    relation: "webhook_queue",
    all: `select to_jsonb(q) as row from webhook_queue q
      union all select to_jsonb(d) || '{"has_ended": true}' as row from webhook_deliveries d
      union all select jsonb_build_object('item', 'recovery ' || r.id, 'fault', ${recoveryFault}) from webhook_recoveries r
      union all select jsonb_build_object('item', event_id, 'fault', ${eventFault}) from (
        select event_id, null as requeued_as from webhook_queue
        union all select event_id, requeued_as from webhook_deliveries) d group by event_id`,
    itemOf: ({ fault, id, item }) => item === undefined ? itemOf(id) : `${item}, which ${fault},`,
    claimOf: ({ due_at, status }) => status === "taken" ? due_at : undefined,
    // The outcome of an attempt counts also after another node has put the row back, until that claims it.
    mayEnd: (after, before, isByLastClaimant) =>
      isByLastClaimant && (after === null || after["attempt_count"] === Number(before["attempt_count"]) + 1),
    mayReclaim: ({ after, before, byOwner }) => byOwner && after?.["attempt_count"] === before["attempt_count"],
    hasNoLease: true,
    isFinal: ({ fault, has_ended }) => has_ended === true || fault === null,
    isSent: ({ status }) => status === "delivered"
  },
  accept: ({ draw }) => [draw.chance(0.3) ? outage : accepted, [draw.within(counts)]],
  start: (node, receiver) =>
    Effect.gen(function*() {
      const services = yield* Layer.build(Services.pipe(Layer.provideMerge(endpoint(node, receiver))))
      return { wake: Effect.provide(publish, services), owned: Effect.provide(owned, services) }
    })
}
