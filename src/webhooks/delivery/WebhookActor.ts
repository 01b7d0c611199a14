/**
 * Delivers the events of one webhook.
 *
 * Who talks to it: `Webhooks` and the sweeper, by `Wake`, and whoever commits an event on this node, by the `LocalDispatch`.
 * Where its state lives: in the rows of `webhook_queue`; in memory it has only the deliveries in its hands (those taken
 * from the table, status `taken`, and those handed over, still `pending`), at most 500. When its node leaves, attempts under way are ended and written down and the rest given back. When
 * its node dies, the next owner gives back what it finds taken and sends it all again with the same event id and the same
 * bytes, so a receiver may see one twice (spec 6.6). A repeated `Wake` is harmless: it looks for rows once more. It stays
 * awake while any delivery waits, be it for a retry in two minutes, and for some seconds after the last one.
 */
import { Clock, Duration, Effect, Exit, Queue } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../platform/cluster/drainBeforeClose.ts"
import { retryWhileUnavailable } from "../../platform/database/retryWhileUnavailable.ts"
import { WebhookId } from "../../values/Ids.ts"
import { makeClaims } from "./DeliveryQueue.ts"
import { makeStanding } from "./EndpointStatus.ts"
import { InFlightDeliveries } from "./InFlightDeliveries.ts"
import { LocalDispatch, type Recipient } from "./LocalDispatch.ts"
import { WebhookEntity } from "./WebhookEntity.ts"

const make = Effect.fnUntraced(function*(linger: Duration.Duration) {
  const id = WebhookId.make(Number((yield* Entity.CurrentAddress).entityId))
  const { recipients } = yield* LocalDispatch
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const changes = yield* Queue.sliding<void>(1)
  const slots = yield* InFlightDeliveries.make(id, () => Queue.offerUnsafe(changes, undefined))
  const claims = yield* makeClaims(id, slots)
  const standing = yield* makeStanding(id, { slots, claims })
  let awake = false
  let nudged = false
  let busyAt = 0

  const nudge = () => {
    nudged = true
    claims.fallBehind()
    if (!slots.hasPlenty) Queue.offerUnsafe(changes, undefined)
  }

  const recipient: Recipient = {
    nudge,
    accept: (deliveries) => {
      if (!standing.isDeliverable()) return nudge()
      if (standing.isOld()) {
        slots.sendTo(undefined)
        Queue.offerUnsafe(changes, undefined)
      }
      claims.handOver(deliveries)
      if (!claims.caughtUp()) nudge()
    }
  }

  /** What cannot be sent now waits in the table when the webhook is off, and ends when it is unhealthy. */
  const stand = Effect.gen(function*() {
    slots.drop()
    claims.fallBehind()
    yield* standing.isOff() ? claims.giveBack : claims.skipAll
    if (!slots.isBusy && fallAsleep()) return false
    yield* Effect.timeoutOption(Queue.take(changes), Math.max(1, standing.endsAt() - now()))
    return true
  })

  /** True when it fell asleep, which it does in one step: a `Wake` comes either before it or finds it asleep. */
  const fallAsleep = () => {
    if (slots.held.size > 0 || nudged) return false
    awake = false
    return recipients.delete(id)
  }

  /** Waits until something may have to be done: false, and asleep, when nothing came for a while. */
  const rest = Effect.gen(function*() {
    const retryAt = claims.nextRetry()
    const idle = slots.held.size === 0 && retryAt === undefined && claims.caughtUp()
    if (!idle) busyAt = now()
    const sleepsAt = busyAt + Duration.toMillis(linger)
    if (idle && now() >= sleepsAt && fallAsleep()) return false
    const until = Math.min(retryAt ?? Infinity, idle ? sleepsAt : standing.endsAt())
    yield* Effect.timeoutOption(Queue.take(changes), Math.max(1, Math.ceil(until - now())))
    return true
  })

  const round = Effect.gen(function*() {
    nudged = false
    if (now() >= standing.endsAt()) yield* standing.refresh
    if (!standing.isDeliverable()) return yield* stand
    return (yield* claims.take) || (yield* rest)
  })

  /** Attempts under way end, which their own clock bounds; what was taken and not begun is given back. */
  const leave = Effect.gen(function*() {
    yield* Effect.annotateLogs(Effect.logDebug("a webhook leaves this node"), { webhook: id })
    awake = false
    claims.doubt()
    recipients.delete(id)
    slots.sendTo(undefined)
    slots.drop()
    while (slots.isBusy) yield* Queue.take(changes)
    yield* Effect.ignoreCause(claims.giveBack)
  })

  const drain = Effect.gen(function*() {
    yield* Effect.annotateLogs(Effect.logDebug("a webhook is awake on this node"), { webhook: id })
    while (yield* retryWhileUnavailable(Effect.orDie(round))) continue
  })

  return WebhookEntity.of({
    Wake: ({ payload: { reason } }) =>
      Effect.suspend(() => {
        if (awake && reason === "held") return Effect.void
        nudge()
        if (reason !== "work" || !awake) {
          standing.outdate()
          Queue.offerUnsafe(changes, undefined)
        }
        if (reason === "waiting") claims.mayBeDue()
        if (reason === "lost" || !awake) claims.doubt()
        if (awake) return Effect.void
        awake = true
        busyAt = now()
        recipients.set(id, recipient)
        return Effect.onExit(drain, (exit) => Exit.isSuccess(exit) ? Effect.void : leave)
      })
  })
})

/** Runs webhooks on this node; `linger` is how long an actor stays awake after its last delivery. */
export const webhookActor = (linger: Duration.Duration) =>
  drainBeforeClose((stay) =>
    WebhookEntity.toLayer(Effect.andThen(stay, make(linger)), { concurrency: "unbounded", maxIdleTime: "1 minute" })
  )

/** Runs webhooks on this node. */
export const WebhookActor = webhookActor(Duration.seconds(15))
