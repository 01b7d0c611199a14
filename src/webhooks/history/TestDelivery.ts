import { DateTime, Duration, Effect } from "effect"
import { exampleBody } from "../../events/EventData.ts"
import type { Topic } from "../../events/EventNames.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { ulid } from "../../platform/crypto/ids.ts"
import { Database } from "../../platform/database/Database.ts"
import { PublicHttp, PublicHttpFailure } from "../../platform/net/PublicHttp.ts"
import { EventId, type WebhookId } from "../../values/Ids.ts"
import { modeOf } from "../../values/TestMode.ts"
import { fromDateTime } from "../../values/Timestamp.ts"
import * as DeliveryAttempt from "../delivery/DeliveryAttempt.ts"
import type { Target } from "../endpoint/WebhooksRepo.ts"
import { DeliveriesRepo } from "./DeliveriesRepo.ts"

/** The event of a test and the outcome of its attempt. */
export interface TestDelivery {
  readonly event: { readonly id: EventId; readonly event: string; readonly body: Uint8Array }
  readonly record: DeliveryAttempt.AttemptRecord
}

/** How long a test waits for a connection to a crowded host. */
const connectionTimeout = Duration.seconds(3)

/** Limits requests together with their wait for a connection, because a caller waits for the response. */
const withTimeout = (http: PublicHttp["Service"], timeout: Duration.Duration) =>
  PublicHttp.of({
    post: (request) =>
      Effect.timeoutOrElse(http.post(request), {
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new PublicHttpFailure({
              reason: "timeout",
              detail: "other requests to this host used all its connections",
              durationMs: Duration.toMillis(timeout)
            })
          )
      })
  })

/** Makes the one attempt of a test, on the node that serves the request. It writes nothing and involves no actor. */
export const make = Effect.gen(function*() {
  const { webhookTimeoutSeconds } = yield* AppConfig
  const { waitWithoutConnection } = yield* Database
  const deliveries = yield* DeliveriesRepo
  const timeout = Duration.sum(Duration.seconds(webhookTimeoutSeconds), connectionTimeout)
  const http = withTimeout(yield* PublicHttp, timeout)
  const { attempt, endpointOf } = yield* Effect.provideService(DeliveryAttempt.make, PublicHttp, http)

  return Effect.fnUntraced(function*(webhookId: WebhookId, target: Target, topic: Topic) {
    const id = EventId.make(`evt_${yield* ulid}`)
    const timestamp = fromDateTime(yield* DateTime.now)
    const body = Buffer.from(JSON.stringify({ ...exampleBody(topic), id, mode: modeOf(target.account_id), timestamp }))
    const delivery = yield* deliveries.nextId()
    const endpoint = yield* endpointOf(webhookId, target)
    const single = {
      ...delivery,
      event_id: id,
      event: topic.event,
      attempt_count: 0,
      claimed_at: null,
      is_test: true,
      all_gone: false,
      body
    }
    const record = yield* waitWithoutConnection(attempt(webhookId, endpoint, single))
    return { event: { id, event: topic.event, body }, record } satisfies TestDelivery
  })
})
