import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { resolveTopic } from "../../events/EventAliases.ts"
import { unknownEventName } from "../../events/unknownEvent.ts"
import { afterCommit, transaction } from "../../platform/database/transaction.ts"
import { NotFound, type ServiceUnavailable, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import type { AccountId, DeliveryId, WebhookId } from "../../values/Ids.ts"
import type { PageOf, Sort } from "../../values/Page.ts"
import type { DeliveryStatus } from "../delivery/DeliveryState.ts"
import { makeNudges } from "../delivery/WakeUps.ts"
import { Targets } from "../endpoint/Targets.ts"
import type { DeliveryDetail, DeliverySummary } from "../endpoint/Webhook.ts"
import { EventExpired, WebhookNotActive } from "../endpoint/WebhookErrors.ts"
import { makeWebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import { makeDeliveriesRepo, type StoredDelivery } from "./DeliveriesRepo.ts"
import { makeTester, type Tested } from "./TestDelivery.ts"

export interface DeliveryFilter {
  readonly sort: Sort
  readonly status?: DeliveryStatus | undefined
  readonly event?: string | undefined
  /** Created from this moment on. */
  readonly from_date?: string | undefined
  /** Created before this moment. */
  readonly to_date?: string | undefined
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8")

type Attempt = DeliveryDetail["attempts"][number]

/** The attempts that stand in the list, and the last one where it stands in the row. */
const attemptsOf = ({ attempts, started_at, ...row }: StoredDelivery): ReadonlyArray<Attempt> =>
  [
    ...attempts,
    ...(started_at === null
      ? []
      : [{ ...row, attempt: row.attempt_count, started_at, duration_ms: row.duration_ms ?? 0 }])
  ].map(({ attempt, duration_ms, error, response_body, response_code, retry_after, started_at }) => ({
    attempt,
    started_at,
    duration_ms,
    response_code,
    error,
    response_body: response_body === null ? null : text(response_body),
    retry_after
  }))

const detailOf = (row: StoredDelivery): DeliveryDetail => {
  const { attempts: _attempts, body, response_body: _body, retry_after: _after, started_at: _started, ...delivery } =
    row
  return { ...delivery, payload: body === null ? null : JSON.parse(text(body)), attempts: attemptsOf(row) }
}

/** A webhook as somebody asks for it: another account's is not there. */
interface Owned {
  readonly accountId: AccountId
  readonly id: WebhookId
}

/** The event that a name means, be it an alias. */
const topicOf = Effect.fnUntraced(function*(name: string) {
  return resolveTopic(name) ?? (yield* ValidationFailed.of("event", unknownEventName(name)))
})

/** The history of what a webhook was sent, and what is sent to it by hand (spec 4.5). */
export class Deliveries extends Context.Service<Deliveries, {
  readonly list: (
    webhook: Owned,
    filter: DeliveryFilter,
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<DeliverySummary>, NotFound | ValidationFailed>
  /** One delivery with its payload and its attempts. */
  readonly find: (webhook: Owned, id: DeliveryId) => Effect.Effect<DeliveryDetail, NotFound>
  /**
   * Sends an example of the event now, once, whatever the webhook's standing, and gives the delivery when it has ended.
   * Nothing is written before: what a crash interrupts has never been.
   */
  readonly test: (
    webhook: Owned,
    event: string
  ) => Effect.Effect<DeliveryDetail, NotFound | ServiceUnavailable | ValidationFailed>
  /** Queues the event of a delivery, whatever came of that one, as a new delivery with the same bytes. */
  readonly redeliver: (
    webhook: Owned,
    id: DeliveryId
  ) => Effect.Effect<DeliveryDetail, EventExpired | NotFound | WebhookNotActive>
}>()("messaging-service/webhooks/history/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { wake } = yield* makeNudges
      const webhooks = yield* makeWebhooksRepo
      const targets = yield* Targets
      const repo = yield* makeDeliveriesRepo
      const attempt = yield* makeTester

      const owned = Effect.fnUntraced(function*(webhook: Owned) {
        if (Option.isNone(yield* Effect.orDie(webhooks.find(webhook)))) return yield* new NotFound()
      })

      const stored = Effect.fnUntraced(function*(webhookId: WebhookId, id: DeliveryId) {
        const found = yield* Effect.orDie(repo.find({ webhookId, id }))
        return Option.isSome(found) ? found.value : yield* new NotFound()
      })

      /** The webhook, which stays as it is until the transaction ends: its removal finds what is written meanwhile. */
      const held = Effect.fnUntraced(function*(webhook: Owned) {
        const found = yield* Effect.orDie(webhooks.hold(webhook))
        return Option.isSome(found) ? found.value : yield* new NotFound()
      })

      const write = Effect.fnUntraced(function*({ accountId, id }: Owned, { event, record }: Tested) {
        yield* held({ accountId, id })
        yield* Effect.orDie(repo.insertEvent({ accountId, ...event }))
        yield* Effect.orDie(repo.insertTest(record, { event: event.event, event_id: event.id }))
        if (record.transition.health === "success") yield* Effect.orDie(webhooks.succeed(id))
        return detailOf(yield* stored(id, record.deliveryId))
      })

      const test = Effect.fn("Deliveries.test")(function*(webhook: Owned, event: string) {
        const topic = yield* topicOf(event)
        yield* owned(webhook)
        const target = yield* targets.read(webhook.id)
        if (Option.isNone(target)) return yield* new NotFound()
        const tested = yield* attempt(webhook.id, target.value, topic)
        return yield* transaction(write(webhook, tested))
      }, Effect.provideService(SqlClient.SqlClient, sql))

      const queueAgain = Effect.fnUntraced(function*(webhook: Owned, id: DeliveryId) {
        const { status } = yield* held(webhook)
        yield* stored(webhook.id, id)
        if (status !== "active") return yield* new WebhookNotActive({ status })
        const queued = yield* Effect.orDie(repo.again({ webhookId: webhook.id, id }))
        if (Option.isNone(queued)) return yield* new EventExpired()
        yield* afterCommit(wake([webhook.id]))
        return detailOf(yield* stored(webhook.id, queued.value.id))
      })

      return Deliveries.of({
        list: Effect.fn("Deliveries.list")(function*(webhook, asked, window) {
          yield* owned(webhook)
          const { from_date = null, sort, status = null, to_date = null } = asked
          const event = asked.event === undefined ? null : (yield* topicOf(asked.event)).event
          const filter = { webhookId: webhook.id, status, event, from_date, to_date, sort, ...window }
          const rows = yield* Effect.orDie(repo.list(filter))
          return { rows, total: (yield* Effect.orDie(repo.count(filter))).total }
        }),
        find: Effect.fn("Deliveries.find")(function*(webhook, id) {
          yield* owned(webhook)
          return detailOf(yield* stored(webhook.id, id))
        }),
        test,
        redeliver: Effect.fn("Deliveries.redeliver")(
          (webhook, id) => transaction(queueAgain(webhook, id)),
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      })
    })
  )
}
