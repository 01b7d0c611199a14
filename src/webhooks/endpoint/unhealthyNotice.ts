import type { WebhookId } from "../../values/Ids.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import type { UnhealthyReason } from "./Webhook.ts"

/** A webhook as its row has it in the transaction that made it unhealthy. */
export interface Fallen {
  readonly id: WebhookId
  readonly reason: UnhealthyReason
  readonly url: string
  readonly failure_count: number
  /** When the first delivery after the last success had used up its attempts. */
  readonly failing_since: Timestamp | null
  readonly fallen_at: Timestamp
}

/** What the text says of the settings. */
export interface HealthLimits {
  readonly webhookPendingLimit: number
  readonly eventRetentionDays: number
}

/** Origin and path: customers put secrets into the query, and a mail is read by more people than a row. */
const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

const minute = (at: Timestamp): string => `${at.slice(0, 16).replace("T", " ")} UTC`

const thousands = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")

const headline: Record<UnhealthyReason, string> = {
  failing: "its deliveries keep failing",
  gone: "its endpoint answers 410 Gone",
  backlog_full: "too many events wait for it"
}

const why = ({ failing_since, failure_count, fallen_at, reason }: Fallen, limits: HealthLimits): string => {
  switch (reason) {
    case "failing": {
      const deliveries = failure_count === 1 ? "1 delivery" : `${failure_count} deliveries in a row`
      return `${deliveries} used up all attempts, and none has succeeded since ${minute(failing_since ?? fallen_at)}.`
    }
    case "gone":
      return "the endpoint answered every attempt of a delivery with 410 Gone, which says that it will not come back."
    case "backlog_full": {
      const most = thousands(limits.webhookPendingLimit)
      return `${most} events or more wait for their first attempt: they come faster than the endpoint answers.`
    }
  }
}

const repair = (id: WebhookId): string =>
  "What happens now: new events are recorded in the delivery history as skipped and not sent. What still waited ends as "
  + `skipped, too.\n\nWhat to do: repair the endpoint, then make the webhook active again:\n`
  + `PUT /v1/webhooks/${id} {"is_active": true}`

const relief = ({ webhookPendingLimit }: HealthLimits): string =>
  "What happens now: new events are recorded in the delivery history as skipped and not sent. What waits goes on being "
  + `sent. When fewer than ${thousands(Math.ceil(webhookPendingLimit / 2))} wait, the webhook becomes active again by `
  + "itself.\n\n"
  + "What to do: see that the endpoint answers quickly, or subscribe to fewer events."

/** What the owner of a webhook reads when it has turned unhealthy: which, since when, why, what now, what to do. */
export const unhealthyNotice = (
  fallen: Fallen,
  limits: HealthLimits
): { readonly subject: string; readonly body: string } => {
  const { fallen_at, id, reason, url } = fallen
  return {
    subject: `Webhook ${id} is unhealthy: ${headline[reason]}`,
    body: [
      `Your webhook ${id} at ${shownUrl(url)} is unhealthy since ${minute(fallen_at)}.`,
      `Why: ${why(fallen, limits)}`,
      reason === "backlog_full" ? relief(limits) : repair(id),
      "Nothing that was skipped is sent by itself. See what it was, and send again what you need, for as long as payloads "
      + `are kept (${limits.eventRetentionDays} days):\nGET /v1/webhooks/${id}/deliveries?status=skipped\n`
      + `POST /v1/webhooks/${id}/deliveries/{delivery_id}/redeliver`
    ].join("\n\n")
  }
}
