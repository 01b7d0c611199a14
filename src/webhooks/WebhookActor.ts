/**
 * Delivers the events of one webhook.
 *
 * Who talks to it: `Webhooks` and the sweeper, by `Wake`. Where its state lives: in the rows of `webhook_deliveries`;
 * in memory it has only the deliveries in its hands (status `taken`). When its node leaves, attempts under way are ended
 * and written down and the rest given back. When its node dies, the next owner gives back what it finds taken and sends
 * it again with the same event id and the same bytes, so a receiver may see one twice (spec 6.6). A repeated `Wake` is
 * harmless: it looks for due rows once more. It stays awake while any delivery waits, be it for a retry in two minutes,
 * and sleeps when none does.
 */
import { Effect, Exit, Option, Queue, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { untilDatabaseIsBack } from "../platform/database/untilDatabaseIsBack.ts"
import { type DeliveryId, WebhookId } from "../values/Ids.ts"
import { makeDeliveriesRepo, type Taken } from "./DeliveriesRepo.ts"
import { type Destination, makeCourier } from "./makeCourier.ts"
import { Outcomes } from "./Outcomes.ts"
import { WebhookEntity } from "./WebhookEntity.ts"

/** Deliveries of one webhook under way at once. */
const width = 8

/** Rows taken by one statement; at most twice as many are in memory. */
const grip = 100

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const id = WebhookId.make(Number(address.entityId))
  const outcomes = yield* Outcomes
  const { attempt, destination } = yield* makeCourier(id)
  const deliveries = yield* makeDeliveriesRepo
  const scope = yield* Effect.scope
  const slots = yield* Semaphore.make(width)
  const changed = yield* Queue.sliding<void>(1)
  const held = new Set<DeliveryId>()
  let underWay = 0
  let awake = false
  let nudged = false
  /** Whether rows may be taken that are in nobody's hands: an owner before this one, an answer that got lost. */
  let doubtful = true

  /** The slot is free again as soon as the endpoint has answered; the outcome is written after that. */
  const deliver = Effect.fnUntraced(function*(to: Destination, taken: Taken) {
    const record = yield* Effect.ensuring(attempt(to, taken), slots.release(1))
    yield* untilDatabaseIsBack(outcomes.record(record))
    // What fails here stays held, hence taken: sent again at once, it would fail for ever.
    held.delete(taken.id)
  }, (effect, _to, { id: delivery }) =>
    Effect.ensuring(
      Effect.tapCause(effect, (cause) =>
        Effect.annotateLogs(Effect.logError("a webhook outcome could not be recorded", cause), { delivery })),
      Effect.sync(() => {
        underWay--
        Queue.offerUnsafe(changed, undefined)
      })
    ))

  const take = Effect.gen(function*() {
    if (doubtful) yield* deliveries.giveBack(id, [...held])
    doubtful = true
    const taken = yield* deliveries.take({ webhookId: id, limit: grip })
    doubtful = false
    for (const delivery of taken) held.add(delivery.id)
    return taken
  })

  /** True when it fell asleep, which it does in one step: a `Wake` comes either before it or finds it asleep. */
  const fallAsleep = () => {
    if (underWay > 0 || nudged) return false
    awake = false
    return true
  }

  /** Waits until something may be due: false, and asleep, when nothing waits at all. */
  const rest = Effect.gen(function*() {
    const { millis } = yield* Effect.orDie(deliveries.nextDue(id))
    if (millis === null && fallAsleep()) return false
    const nap = Queue.take(changed)
    yield* millis === null ? nap : Effect.timeoutOption(nap, Math.max(1, Math.ceil(millis)))
    return true
  })

  const round = Effect.gen(function*() {
    nudged = false
    const to = yield* destination
    if (Option.isNone(to)) {
      if (underWay > 0) yield* Queue.take(changed)
      return !fallAsleep()
    }
    const taken = yield* Effect.orDie(take)
    for (const delivery of taken) {
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(slots.take(1)), () => {
          underWay++
          return Effect.forkIn(Effect.interruptible(deliver(to.value, delivery)), scope)
        })
      )
    }
    return taken.length > 0 || (yield* rest)
  })

  /** Attempts under way end, which their own clock bounds; what was taken and not begun is given back. */
  const leave = Effect.gen(function*() {
    while (underWay > 0) yield* Queue.take(changed)
    held.clear()
    yield* Effect.ignoreCause(deliveries.giveBack(id, []))
    doubtful = true
    awake = false
  })

  const drain = Effect.gen(function*() {
    yield* Effect.annotateLogs(Effect.logDebug("a webhook is awake on this node"), { webhook: id })
    while (yield* untilDatabaseIsBack(round)) continue
  })

  return WebhookEntity.of({
    Wake: () =>
      Effect.suspend(() => {
        nudged = true
        if (awake) return Effect.asVoid(Queue.offer(changed, undefined))
        awake = true
        return Effect.onExit(drain, (exit) => Exit.isSuccess(exit) ? Effect.void : leave)
      })
  })
})

/** Runs webhooks on this node. */
export const WebhookActor = WebhookEntity.toLayer(make, { concurrency: "unbounded", maxIdleTime: "1 minute" })
