/**
 * Delivers the events of one webhook.
 *
 * Who talks to it: `Webhooks` and the sweeper, by `Wake`. Where its state lives: in the rows of `webhook_deliveries`;
 * in memory it has only the deliveries in its hands (status `taken`). When its shard moves, those are interrupted and
 * the next owner gives them back and sends them again with the same event id and the same bytes, so a receiver may see
 * one twice (spec 6.6). A repeated `Wake` is harmless: it looks for due rows once more. It stays awake while any
 * delivery waits, be it for a retry in two minutes, and sleeps when none does.
 */
import { DateTime, Effect, Option, Queue, Redacted, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { Vault } from "../platform/crypto/Vault.ts"
import { untilDatabaseIsBack } from "../platform/database/untilDatabaseIsBack.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { WebhookId } from "../values/Ids.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import { makeDeliveriesRepo, type Taken } from "./DeliveriesRepo.ts"
import { Outcomes } from "./Outcomes.ts"
import { sealedSecret } from "./sealedSecret.ts"
import { sign, type SigningKey, signingKey } from "./sign.ts"
import { WebhookEntity } from "./WebhookEntity.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"
import { type Outcome, transition } from "./WebhookState.ts"

/** Deliveries of one webhook under way at once. */
const width = 8

/** Rows taken by one statement; at most twice as many are in memory. */
const grip = 100

interface Destination {
  readonly url: string
  readonly key: SigningKey
}

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const id = WebhookId.make(Number(address.entityId))
  const http = yield* PublicHttp
  const vault = yield* Vault
  const outcomes = yield* Outcomes
  const webhooks = yield* makeWebhooksRepo
  const deliveries = yield* makeDeliveriesRepo
  const slots = yield* Semaphore.make(width)
  const changed = yield* Queue.sliding<void>(1)
  let awake = false
  let underWay = 0

  yield* Effect.orDie(deliveries.giveBack(id))

  /** Where deliveries go now; nothing when the webhook is gone or switched off. */
  const destination = Effect.gen(function*() {
    const target = Option.getOrUndefined(yield* webhooks.target(id))
    if (target === undefined || !target.is_active) return Option.none<Destination>()
    const secret = yield* vault.open(sealedSecret(id), target.secret)
    return Option.some({ url: target.url, key: signingKey(Redacted.make(Buffer.from(secret).toString("utf8"))) })
  }).pipe(Effect.orDie)

  const attempt = Effect.fnUntraced(function*({ key, url }: Destination, taken: Taken) {
    const now = yield* DateTime.now
    const headers = sign({
      ...taken,
      delivery_id: taken.id,
      attempt: taken.attempt_count + 1,
      timestamp: Math.floor(DateTime.toEpochMillis(now) / 1000),
      key
    })
    const answer = yield* http.post({ url, headers, body: taken.body }).pipe(
      Effect.map((response) => ({
        outcome: { _tag: "Answered", status: response.status } satisfies Outcome,
        body: response.body
      })),
      Effect.catchTag("PublicHttpFailure", (failure) =>
        Effect.succeed({
          outcome: { _tag: "Broke", error: failure.reason, status: failure.status } satisfies Outcome,
          body: null
        }))
    )
    const endedAt = yield* DateTime.now
    return {
      webhookId: id,
      deliveryId: taken.id,
      startedAt: fromDateTime(now),
      durationMs: DateTime.toEpochMillis(endedAt) - DateTime.toEpochMillis(now),
      responseBody: answer.body,
      transition: transition({ ...taken, status: taken.attempt_count === 0 ? "pending" : "retrying" }, answer.outcome)
    }
  })

  /** The slot is free again as soon as the endpoint has answered; the outcome is written after that. */
  const deliver = Effect.fnUntraced(function*(to: Destination, taken: Taken) {
    const record = yield* Effect.ensuring(attempt(to, taken), slots.release(1))
    yield* untilDatabaseIsBack(outcomes.record(record))
    underWay--
    Queue.offerUnsafe(changed, undefined)
  })

  /** Waits until something may be due: false when nothing waits at all. */
  const rest = Effect.gen(function*() {
    const { millis } = yield* Effect.orDie(deliveries.nextDue(id))
    if (millis === null && underWay === 0) return Option.isSome(yield* Queue.poll(changed))
    const nap = Queue.take(changed)
    yield* millis === null ? nap : Effect.timeoutOption(nap, Math.max(1, Math.ceil(millis)))
    return true
  })

  const round = Effect.gen(function*() {
    const to = yield* destination
    if (Option.isNone(to)) return false
    const taken = yield* Effect.orDie(deliveries.take({ webhookId: id, limit: grip }))
    for (const delivery of taken) {
      yield* slots.take(1)
      underWay++
      yield* Effect.forkChild(deliver(to.value, delivery))
    }
    return taken.length > 0 || (yield* rest)
  })

  const drain = Effect.gen(function*() {
    awake = true
    while (yield* untilDatabaseIsBack(round)) continue
  }).pipe(Effect.ensuring(Effect.sync(() => {
    awake = false
  })))

  return WebhookEntity.of({
    Wake: () => Effect.suspend(() => awake ? Effect.asVoid(Queue.offer(changed, undefined)) : drain)
  })
})

/** Runs webhooks on this node. */
export const WebhookActor = WebhookEntity.toLayer(make, { concurrency: "unbounded", maxIdleTime: "1 minute" })
