import { Context, Effect, Layer, Option } from "effect"
import { Notices } from "../../accounts/notices/Notices.ts"
import { domainEvent, Events } from "../../events/Events.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { shownUrl } from "../../values/HttpsUrl.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { thousands } from "../../values/messageText.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import type { UnhealthyReason } from "./Webhook.ts"
import { WebhooksRepo } from "./WebhooksRepo.ts"

/** A webhook in the transaction that made it unhealthy. */
export interface UnhealthyWebhook {
  readonly id: WebhookId
  readonly reason: UnhealthyReason
  readonly url: string
  readonly failure_count: number
  /** When the first delivery after the last success used up its attempts. */
  readonly failing_since: Timestamp | null
  readonly unhealthy_since: Timestamp
}

/** The settings that the notice mentions. */
export interface HealthLimits {
  readonly webhookPendingLimit: number
  readonly eventRetentionDays: number
}

const minute = (at: Timestamp): string => `${at.slice(0, 16).replace("T", " ")} UTC`

const headline: Record<UnhealthyReason, string> = {
  failing: "its deliveries keep failing",
  gone: "its endpoint answers 410 Gone",
  backlog_full: "its backlog is full"
}

const why = (
  { failing_since, failure_count, reason, unhealthy_since }: UnhealthyWebhook,
  limits: HealthLimits
): string => {
  switch (reason) {
    case "failing": {
      const deliveries = failure_count === 1 ? "1 delivery" : `${failure_count} deliveries in a row`
      return `${deliveries} used up all attempts, and none has succeeded since ${
        minute(failing_since ?? unhealthy_since)
      }.`
    }
    case "gone":
      return "the endpoint answered every attempt of a delivery with 410 Gone: it says that it will not come back."
    case "backlog_full": {
      const count = thousands(limits.webhookPendingLimit)
      return `${count} events or more wait for an attempt: they arrive faster than the endpoint accepts them.`
    }
  }
}

const repair = (id: WebhookId): string =>
  "What happens now: new events are recorded in the delivery history as skipped and are not sent. Deliveries that were "
  + `still waiting are skipped as well.\n\nWhat to do: repair the endpoint, then make the webhook active again:\n`
  + `PUT /v1/webhooks/${id} {"is_active": true}`

const relief = ({ webhookPendingLimit }: HealthLimits): string =>
  "What happens now: new events are recorded in the delivery history as skipped and are not sent. Events that already "
  + `wait are still sent. When fewer than ${thousands(Math.ceil(webhookPendingLimit / 2))} wait, the webhook becomes `
  + "active again by itself.\n\n"
  + "What to do: make the endpoint answer faster, and with 2xx, or subscribe to fewer events."

/** The notice to the owner of an unhealthy webhook: which one, since when, why, the consequences, and what to do. */
export const unhealthyNotice = (
  webhook: UnhealthyWebhook,
  limits: HealthLimits
): { readonly subject: string; readonly body: string } => {
  const { id, reason, unhealthy_since, url } = webhook
  return {
    subject: `Webhook ${id} is unhealthy: ${headline[reason]}`,
    body: [
      `Your webhook ${id} at ${shownUrl(url)} has been unhealthy since ${minute(unhealthy_since)}.`,
      `Why: ${why(webhook, limits)}`,
      reason === "backlog_full" ? relief(limits) : repair(id),
      "Skipped events are not sent by themselves. Recover all of them once the webhook is active, with a time before the "
      + `first failure, for as long as payloads are kept (${limits.eventRetentionDays} days):\n`
      + `POST /v1/webhooks/${id}/recover {"since": "TIME"}\n\n`
      + `Or list them, and redeliver those that you need:\nGET /v1/webhooks/${id}/deliveries?status=skipped\n`
      + `POST /v1/webhooks/${id}/deliveries/{delivery_id}/redeliver`
    ].join("\n\n")
  }
}

/** Tells the owner of a webhook that it has become unhealthy, by mail and by the other webhooks of the account. */
export class UnhealthyNotifier extends Context.Service<UnhealthyNotifier, {
  /**
   * Queues the notice and the event in the caller's transaction, so a crash leaves both the state and its notice, or
   * neither.
   */
  readonly notify: (webhook: Pick<UnhealthyWebhook, "id" | "reason">) => Effect.Effect<void>
}>()("messaging-service/webhooks/endpoint/UnhealthyNotifier") {
  // A transaction belongs to one pool, and the node's shared notices use the pool of requests: they would be written
  // outside the caller's transaction. These notices use the same pool as the notifier.
  static readonly layer = Layer.effect(
    UnhealthyNotifier,
    Effect.gen(function*() {
      const limits = yield* AppConfig
      const events = yield* Events
      const notices = yield* Notices
      const webhooks = yield* WebhooksRepo

      return UnhealthyNotifier.of({
        notify: Effect.fn("UnhealthyNotifier.notify")(function*({ id, reason }) {
          yield* Effect.annotateLogs(Effect.logWarning("webhook is unhealthy"), { webhook: id, reason })
          const row = yield* webhooks.unhealthyDetails(id)
          if (Option.isNone(row)) return
          const { account_id: accountId, url, ...details } = row.value
          const data = { webhook_id: id, url: shownUrl(url), reason, ...details }
          yield* events.publish([domainEvent({ accountId, event: "webhook.unhealthy", data, except: id })])
          // One mail a day for each webhook and reason, however often its health changes.
          yield* notices.enqueue({
            accountId,
            kind: "webhook_unhealthy",
            once: `${id} ${reason}`,
            ...unhealthyNotice({ id, reason, url, ...details }, limits)
          })
        })
      })
    })
  ).pipe(Layer.provide([Layer.fresh(Notices.layer), WebhooksRepo.layer]))
}
