import { Clock, Effect, Option } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { Database } from "../../platform/database/Database.ts"
import { millisOf } from "../../platform/schedule/monotonic.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { UnhealthyNotifier } from "../endpoint/UnhealthyNotifier.ts"
import type { UnhealthyReason } from "../endpoint/Webhook.ts"
import { Targets, WebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import * as DeliveryAttempt from "./DeliveryAttempt.ts"
import { DeliveryBudget } from "./InFlightDeliveries.ts"
import { QueueRepo } from "./QueueRepo.ts"

/** How long an actor may use the status that it has read: a wake-up about a change may get lost. */
const maxAgeMillis = 1000

/** How often the backlog is counted. */
const backlogIntervalMillis = 5000

type Status = "disabled" | "healthy" | UnhealthyReason

/**
 * Limits the backlog of one webhook. The actor counts it every five seconds while anything waits, so the limit may be
 * exceeded by the events of that time; a count with every event would cost more than the event. A webhook at its limit
 * gets its backlog and no new events until half of it is delivered.
 */
export const backlogCheck = Effect.fnUntraced(function*(id: WebhookId) {
  const { transaction } = yield* Database
  const { webhookPendingLimit } = yield* AppConfig
  const { notify } = yield* UnhealthyNotifier
  const { withQueryPermit } = yield* DeliveryBudget
  const queue = yield* QueueRepo
  const webhooks = yield* WebhooksRepo

  const suspend = Effect.gen(function*() {
    const suspended = yield* webhooks.markBacklogFull(id)
    if (Option.isSome(suspended)) yield* notify({ id, reason: "backlog_full" })
  })

  return Effect.fnUntraced(function*(status: Status) {
    const { count } = yield* withQueryPermit(queue.countBacklog({ webhookId: id, limit: webhookPendingLimit }))
    if (status === "backlog_full") {
      if (count < webhookPendingLimit / 2) yield* webhooks.clearBacklogFull(id)
    } else if (count >= webhookPendingLimit) {
      yield* transaction(suspend)
    }
  })
})

/** An actor's cached view of its webhook: healthy, unhealthy with a reason, or disabled. */
export const make = Effect.fnUntraced(function*(id: WebhookId) {
  const clock = yield* Clock.Clock
  const targets = yield* Targets
  const { endpointOf } = yield* DeliveryAttempt.make
  const checkBacklog = yield* backlogCheck(id)
  let status: Status = "disabled"
  let readAt = -Infinity
  let isInvalid = false
  let isRecovering = false
  let countedAt = -Infinity

  const isDeliverable = () => status === "healthy" || status === "backlog_full"

  return {
    isDeliverable,
    /** Switched off, or deleted. */
    isDisabled: () => status === "disabled",
    /** Whether a recovery has events left to queue. */
    isRecovering: () => isRecovering,
    /** All events of the recovery are queued. */
    endRecovery: () => {
      isRecovering = false
    },
    /** Whether it must be read again before a new attempt: it was invalidated, or the actor has slept. */
    isStale: () => isInvalid || millisOf(clock) > readAt + 2 * maxAgeMillis,
    expiresAt: () => isInvalid ? 0 : readAt + maxAgeMillis,
    /** The webhook has changed: the status must be read again at once. */
    invalidate: () => {
      isInvalid = true
    },
    /** Reads the webhook; returns its endpoint, or undefined when nothing may be sent to it. */
    refresh: Effect.gen(function*() {
      isInvalid = false
      const target = Option.getOrUndefined(yield* targets.read(id))
      readAt = millisOf(clock)
      isRecovering = target?.is_recovering ?? false
      status = target === undefined || !target.is_active ? "disabled" : target.unhealthy_reason ?? "healthy"
      return target !== undefined && isDeliverable() ? yield* endpointOf(id, target) : undefined
    }),
    /** Suspends the webhook when its backlog is full, and resumes it when half of that is delivered. */
    checkBacklog: Effect.fnUntraced(function*(mayHaveBacklog: boolean) {
      const mayBeFull = isDeliverable() && (mayHaveBacklog || status === "backlog_full")
      if (!mayBeFull || readAt < countedAt + backlogIntervalMillis) return
      countedAt = readAt
      yield* checkBacklog(status)
    })
  }
})
