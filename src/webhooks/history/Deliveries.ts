import { Context, Effect, Layer, Option } from "effect"
import { resolveTopic } from "../../events/EventNames.ts"
import { unknownEventName } from "../../events/EventPattern.ts"
import { Database } from "../../platform/database/Database.ts"
import * as Query from "../../platform/database/Query.ts"
import { NotFound, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import type { DeliveryId, EventId, WebhookId } from "../../values/Ids.ts"
import { type PageOf, type Sort, statusesOf, type Window } from "../../values/Page.ts"
import type { DeliveryStatus } from "../delivery/DeliveryState.ts"
import { WakeUps } from "../delivery/WakeUps.ts"
import { EventExpired, WebhookNotActive } from "../endpoint/Webhook.ts"
import { Targets, type WebhookKey, WebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import { DeliveriesRepo, type StoredDelivery } from "./DeliveriesRepo.ts"
import type { DeliveryDetail, DeliverySummary } from "./Delivery.ts"
import * as TestDelivery from "./TestDelivery.ts"

export interface DeliveryFilter {
  readonly sort: Sort
  readonly status?: DeliveryStatus | undefined
  readonly event?: string | undefined
  readonly event_id?: EventId | undefined
  /** Of the last attempt: a status, or a class such as `5xx`. */
  readonly response_code?: string | undefined
  /** What the events are about: a channel and the id of its message, such as `email/12`, or an id with a prefix. */
  readonly message?: string | undefined
  /** Created at this moment or later. */
  readonly from_date?: string | undefined
  /** Created before this moment. */
  readonly to_date?: string | undefined
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8")

type Attempt = DeliveryDetail["attempts"][number]

/** The earlier attempts, and the last one of an ended delivery, which its row stores. */
const attemptsOf = ({ attempts, started_at, ...row }: StoredDelivery): ReadonlyArray<Attempt> =>
  [
    ...attempts,
    ...(started_at === null
      ? []
      : [{ ...row, response_text: null, attempt: row.attempt_count, started_at, duration_ms: row.duration_ms ?? 0 }])
  ].map(({ response_body = null, response_text = null, ...recorded }) => ({
    attempt: recorded.attempt,
    started_at: recorded.started_at,
    duration_ms: recorded.duration_ms,
    response_code: recorded.response_code,
    error: recorded.error,
    response_body: response_text ?? (response_body === null ? null : text(response_body)),
    retry_after: recorded.retry_after
  }))

const detailOf = (row: StoredDelivery): DeliveryDetail => {
  const { attempts: _attempts, body, response_body: _body, retry_after: _after, started_at: _started, ...delivery } =
    row
  return { ...delivery, payload: body === null ? null : JSON.parse(text(body)), attempts: attemptsOf(row) }
}

/** The event with this name or alias. */
const topicOf = Effect.fnUntraced(function*(name: string) {
  return resolveTopic(name) ?? (yield* ValidationFailed.of("event", unknownEventName(name)))
})

/** The deliveries of a webhook, tests and redeliveries (spec 4.5). */
export class Deliveries extends Context.Service<Deliveries, {
  readonly list: (
    webhook: WebhookKey,
    filter: DeliveryFilter,
    window: Window
  ) => Effect.Effect<PageOf<DeliverySummary>, NotFound | ValidationFailed>
  /** One delivery with its payload and its attempts. */
  readonly find: (webhook: WebhookKey, id: DeliveryId) => Effect.Effect<DeliveryDetail, NotFound>
  /**
   * Sends an example of the event now, once, whatever the webhook's status, and returns the ended delivery. It writes nothing
   * before the attempt ends, so a crash leaves no trace of it.
   */
  readonly test: (
    webhook: WebhookKey,
    event: string
  ) => Effect.Effect<DeliveryDetail, NotFound | ValidationFailed>
  /** Queues the event of a delivery as a new delivery with the same bytes, whatever the outcome of the first. */
  readonly redeliver: (
    webhook: WebhookKey,
    id: DeliveryId
  ) => Effect.Effect<DeliveryDetail, EventExpired | NotFound | WebhookNotActive>
}>()("messaging-service/webhooks/history/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const { wake } = yield* WakeUps.make
      const webhooks = yield* WebhooksRepo
      const targets = yield* Targets
      const repo = yield* DeliveriesRepo
      const attempt = yield* TestDelivery.make

      const aboutMessage = Effect.fnUntraced(function*({ accountId, id }: WebhookKey, message: string) {
        const [channel = "", messageId] = message.split("/")
        const of = messageId === undefined ? { subject: channel } : { channel, id: messageId }
        return (yield* repo.aboutMessage({ accountId, webhookId: id, of })).ids
      })

      const stored = Effect.fnUntraced(function*(webhookId: WebhookId, id: DeliveryId) {
        const found = yield* repo.find({ webhookId, id })
        return Option.isSome(found) ? found.value : yield* new NotFound()
      })

      /** Locks the webhook until the transaction ends, so that its removal finds the rows written meanwhile. */
      const locked = Effect.fnUntraced(function*(webhook: WebhookKey) {
        const found = yield* webhooks.lock(webhook)
        return Option.isSome(found) ? found.value : yield* new NotFound()
      })

      const write = Effect.fnUntraced(
        function*({ accountId, id }: WebhookKey, { event, record }: TestDelivery.TestDelivery) {
          yield* locked({ accountId, id })
          yield* repo.insertEvent({ accountId, ...event, webhookId: id, deliveryId: record.deliveryId })
          yield* repo.insertTest(record, { event: event.event, event_id: event.id })
          if (record.transition.health === "success") yield* webhooks.resetFailures(id)
          return detailOf(yield* stored(id, record.deliveryId))
        }
      )

      const test = Effect.fn("Deliveries.test")(function*(webhook: WebhookKey, event: string) {
        const topic = yield* topicOf(event)
        yield* webhooks.require(webhook)
        const target = yield* targets.read(webhook.id)
        if (Option.isNone(target)) return yield* new NotFound()
        const delivery = yield* attempt(webhook.id, target.value, topic)
        return yield* transaction(write(webhook, delivery))
      })

      const requeue = Effect.fnUntraced(function*(webhook: WebhookKey, id: DeliveryId) {
        const { status } = yield* locked(webhook)
        yield* stored(webhook.id, id)
        if (status !== "active") return yield* new WebhookNotActive({ status })
        const queued = yield* repo.requeue({ webhookId: webhook.id, id })
        if (Option.isNone(queued)) return yield* new EventExpired()
        yield* afterCommit(wake([webhook.id]))
        return detailOf(yield* stored(webhook.id, queued.value.id))
      })

      return Deliveries.of({
        list: Effect.fn("Deliveries.list")(function*(webhook, query, window) {
          yield* webhooks.require(webhook)
          const { event_id = null, from_date = null, message, response_code, sort, status = null, to_date = null } =
            query
          const event = query.event === undefined ? null : (yield* topicOf(query.event)).event
          return yield* Query.windowOf(repo, {
            webhookId: webhook.id,
            status,
            event,
            event_id,
            codes: response_code === undefined ? null : statusesOf(response_code),
            ids: message === undefined ? null : yield* aboutMessage(webhook, message),
            from_date,
            to_date,
            sort,
            ...window
          })
        }),
        find: Effect.fn("Deliveries.find")(function*(webhook, id) {
          yield* webhooks.require(webhook)
          return detailOf(yield* stored(webhook.id, id))
        }),
        test,
        redeliver: Effect.fn("Deliveries.redeliver")((webhook, id) => transaction(requeue(webhook, id)))
      })
    })
  ).pipe(Layer.provide([WebhooksRepo.layer, DeliveriesRepo.layer]))
}
