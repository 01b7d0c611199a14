/**
 * Delivers the events of one webhook.
 *
 * Callers: `Webhooks` and the sweeper, by `Wake`; on the same node each commit of an event, by `LocalDispatch`.
 * State: the rows of `webhook_queue`, and the webhook's recovery in `webhook_recoveries`. In memory it has at most 500
 * deliveries, and 100 retries: claimed ones (status `taken`) and locally dispatched ones (still `pending`).
 * On shard move: attempts in flight end and are written, all other claims are released. When the node dies, the next owner
 * reclaims the rows and sends them again with the same event id and bytes: a receiver may see an event twice (spec 6.6).
 * Idempotence: a repeated `Wake` only polls once more.
 * Sleep: some seconds after the last delivery. It stays awake while any delivery waits, except for a retry that is more than
 * five minutes away: the sweeper wakes it for that one, up to two seconds late.
 */
import { Clock, Duration, Effect, Exit, Layer, Queue } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import { millisOf } from "../../platform/schedule/monotonic.ts"
import { WebhookId } from "../../values/Ids.ts"
import { WebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import { RecoveryRepo } from "../recovery/RecoveryRepo.ts"
import * as DeliveryQueue from "./DeliveryQueue.ts"
import * as EndpointStatus from "./EndpointStatus.ts"
import { InFlightDeliveries } from "./InFlightDeliveries.ts"
import { type LocalActor, LocalDispatch } from "./LocalDispatch.ts"
import { QueueRepo } from "./QueueRepo.ts"
import { WebhookEntity } from "./WebhookEntity.ts"

/** An actor does not stay awake for a later retry: an endpoint may be away for a day. */
const longestWait = Duration.toMillis("5 minutes")

const make = Effect.fnUntraced(function*(idleTimeout: Duration.Duration) {
  const id = WebhookId.make(Number((yield* Entity.CurrentAddress).entityId))
  const { actors } = yield* LocalDispatch
  const clock = yield* Clock.Clock
  const now = () => millisOf(clock)
  const changes = yield* Queue.sliding<void>(1)
  const inFlight = yield* InFlightDeliveries.make(id, () => Queue.offerUnsafe(changes, undefined))
  const queue = yield* DeliveryQueue.make(id, inFlight)
  const status = yield* EndpointStatus.make(id)
  let isAwake = false
  let hasWakeUp = false
  let busyAt = 0

  const wake = () => {
    hasWakeUp = true
    queue.fallBehind()
    if (!inFlight.hasEnoughWaiting) Queue.offerUnsafe(changes, undefined)
  }

  const localActor: LocalActor = {
    wake,
    accept: (deliveries) => {
      if (!status.isDeliverable()) return wake()
      if (status.isStale()) {
        inFlight.sendTo(undefined)
        Queue.offerUnsafe(changes, undefined)
      }
      queue.dispatch(deliveries)
      if (!queue.isCaughtUp()) wake()
    }
  }

  /** Waits for a change, at most until this moment. */
  const waitUntil = (millis: number) =>
    Effect.timeoutOption(Queue.take(changes), Math.max(1, Math.ceil(millis - now())))

  /** True when it fell asleep. It does so in one step: a `Wake` comes either before it or finds it asleep. */
  const fallAsleep = () => {
    if (inFlight.size > 0 || hasWakeUp) return false
    isAwake = false
    return actors.delete(id)
  }

  /** Nothing may be sent: deliveries stay in the table while the webhook is disabled, and are skipped when unhealthy. */
  const suspend = Effect.gen(function*() {
    inFlight.dropWaiting()
    queue.fallBehind()
    yield* status.isDisabled() ? queue.release : queue.skipAll
    if (!inFlight.isBusy && fallAsleep()) return false
    yield* waitUntil(status.expiresAt())
    return true
  })

  /** Waits until there may be work: false, and asleep, when none came within the idle timeout. */
  const idle = Effect.gen(function*() {
    const retryAt = queue.nextRetry() ?? Infinity
    const isIdle = inFlight.size === 0 && retryAt > now() + longestWait && queue.isCaughtUp() && !status.isRecovering()
    if (!isIdle) busyAt = now()
    const sleepsAt = busyAt + Duration.toMillis(idleTimeout)
    if (isIdle && now() >= sleepsAt && fallAsleep()) return false
    // A due retry without room waits for the change that makes room.
    const claimsAt = inFlight.claimableRetries === 0 ? Infinity : retryAt
    yield* waitUntil(Math.min(claimsAt, isIdle ? sleepsAt : status.expiresAt()))
    return true
  })

  const refresh = Effect.gen(function*() {
    inFlight.sendTo(yield* status.refresh)
    yield* status.checkBacklog(!queue.isCaughtUp() || queue.nextRetry() !== undefined)
  })

  /** One round of claiming; false once the actor is asleep. */
  const round = Effect.gen(function*() {
    hasWakeUp = false
    if (now() >= status.expiresAt()) yield* refresh
    if (!status.isDeliverable()) return yield* suspend
    if (status.isRecovering() && (yield* queue.recover)) status.endRecovery()
    return (yield* queue.claimDue) || (yield* idle)
  })

  const run = Effect.gen(function*() {
    yield* Effect.annotateLogs(Effect.logDebug("webhook actor woke up"), { webhook: id })
    while (yield* retryWhileUnavailable(round)) continue
  })

  /** Attempts in flight end, which their timeout guarantees; this actor's other claims are released. */
  const drain = Effect.gen(function*() {
    yield* Effect.annotateLogs(Effect.logDebug("webhook actor is shutting down"), { webhook: id })
    isAwake = false
    queue.expectOrphans()
    actors.delete(id)
    inFlight.sendTo(undefined)
    const dropped = inFlight.dropWaiting()
    while (inFlight.isBusy) yield* Queue.take(changes)
    yield* Effect.ignoreCause(queue.releaseClaims(dropped))
  })

  return WebhookEntity.of({
    Wake: ({ payload: { reason } }) =>
      Effect.suspend(() => {
        if (isAwake && reason === "claimed") return Effect.void
        wake()
        if (reason !== "work" || !isAwake) {
          status.invalidate()
          Queue.offerUnsafe(changes, undefined)
        }
        if (reason === "waiting") queue.expectRetry()
        if (reason === "orphaned" || !isAwake) queue.expectOrphans()
        if (isAwake) return Effect.void
        isAwake = true
        busyAt = now()
        actors.set(id, localActor)
        return Effect.onExit(run, (exit) => Exit.isSuccess(exit) ? Effect.void : drain)
      })
  })
})

/** With PAUSED nothing is delivered. */
const makeUnlessPaused = (idleTimeout: Duration.Duration) =>
  Effect.flatMap(
    AppConfig,
    ({ paused }) => paused ? Effect.succeed(WebhookEntity.of({ Wake: () => Effect.void })) : make(idleTimeout)
  )

/** Runs the webhook actors of this node; an actor falls asleep this long after its last delivery. */
export const webhookActor = (idleTimeout: Duration.Duration) =>
  drainBeforeClose((track) =>
    WebhookEntity.toLayer(Effect.andThen(track, makeUnlessPaused(idleTimeout)), {
      concurrency: "unbounded",
      maxIdleTime: "1 minute"
    })
  ).pipe(Layer.provide([WebhooksRepo.layer, QueueRepo.layer, RecoveryRepo.layer]))

/** Runs the webhook actors of this node. */
export const WebhookActor = webhookActor(Duration.seconds(15))
