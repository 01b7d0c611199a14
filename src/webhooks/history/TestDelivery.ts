import { DateTime, Duration, Effect, Option, Semaphore } from "effect"
import type { Topic } from "../../events/EventAliases.ts"
import { exampleBody } from "../../events/EventBody.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { ulid } from "../../platform/crypto/ulid.ts"
import { idleInTransaction, inTransaction } from "../../platform/database/transaction.ts"
import { ServiceUnavailable } from "../../platform/http/ApiErrors.ts"
import { PublicHttp, PublicHttpFailure } from "../../platform/net/PublicHttp.ts"
import { EventId, type WebhookId } from "../../values/Ids.ts"
import { fromDateTime } from "../../values/Timestamp.ts"
import { makeCourier } from "../delivery/DeliveryAttempt.ts"
import type { AttemptRecord } from "../delivery/DeliveryOutcomes.ts"
import type { Target } from "../endpoint/WebhooksRepo.ts"
import { makeDeliveriesRepo } from "./DeliveriesRepo.ts"

/** What a test sent, and what came of it. */
export interface Tested {
  readonly event: { readonly id: EventId; readonly event: string; readonly body: Uint8Array }
  readonly record: AttemptRecord
}

/** How long a test waits for its turn at an origin that many deliveries are on their way to. */
const patience = Duration.seconds(3)

/** What a transaction has left for itself while an attempt is made in it. */
const margin = Duration.seconds(2)

/** Requests that are given up when they and their wait for a turn have lasted too long: a caller waits for the answer. */
const hasty = (http: PublicHttp["Service"], atMost: Duration.Duration) =>
  PublicHttp.of({
    post: (request) =>
      Effect.timeoutOrElse(http.post(request), {
        duration: atMost,
        orElse: () =>
          Effect.fail(
            new PublicHttpFailure({
              reason: "timeout",
              detail: "other requests to this host have not left room for it",
              durationMs: Duration.toMillis(atMost)
            })
          )
      })
  })

/**
 * Makes the one attempt of a test, on the node that was asked for it: it writes nothing, and is in no actor's hands.
 *
 * With an `Idempotency-Key` the request is a transaction, so the attempt holds a connection of the pool that all requests
 * share. At most a quarter of them may be held so; who comes then is asked to come again.
 */
export const makeTester = Effect.gen(function*() {
  const { databaseConnections, webhookTimeoutSeconds } = yield* AppConfig
  const deliveries = yield* makeDeliveriesRepo
  const longest = Duration.sum(Duration.seconds(webhookTimeoutSeconds), patience)
  const http = hasty(yield* PublicHttp, longest)
  const { attempt, destination } = yield* Effect.provideService(makeCourier, PublicHttp, http)
  const holding = yield* Semaphore.make(Math.floor(databaseConnections / 4))

  const bounded = Effect.fnUntraced(function*<A>(effect: Effect.Effect<A>) {
    if (!(yield* inTransaction)) return yield* effect
    const idle = idleInTransaction(effect, Duration.sum(longest, margin))
    const done = yield* holding.withPermitsIfAvailable(1)(idle)
    return Option.isSome(done) ? done.value : yield* new ServiceUnavailable()
  })

  return Effect.fnUntraced(function*(webhookId: WebhookId, target: Target, topic: Topic) {
    const id = EventId.make(`evt_${yield* ulid}`)
    const timestamp = fromDateTime(yield* DateTime.now)
    const body = Buffer.from(JSON.stringify({ ...exampleBody(topic), id, timestamp }))
    const delivery = yield* Effect.orDie(deliveries.nextId())
    const to = yield* destination(webhookId, target)
    const once = {
      ...delivery,
      event_id: id,
      event: topic.event,
      attempt_count: 0,
      is_test: true,
      all_gone: false,
      body
    }
    const record = yield* bounded(attempt(webhookId, to, once))
    return { event: { id, event: topic.event, body }, record } satisfies Tested
  })
})
