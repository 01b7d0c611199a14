import { DateTime, Effect, Option, Redacted } from "effect"
import { Vault } from "../platform/crypto/Vault.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import type { WebhookId } from "../values/Ids.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import type { Taken } from "./DeliveriesRepo.ts"
import { sealedSecret } from "./sealedSecret.ts"
import { sign, type SigningKey, signingKey } from "./sign.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"
import { type Outcome, transition } from "./WebhookState.ts"

/** Where a webhook's deliveries go, and what signs them. */
export interface Destination {
  readonly url: string
  readonly key: SigningKey
}

/** Carries the deliveries of one webhook to its endpoint; it remembers nothing. */
export const makeCourier = Effect.fnUntraced(function*(id: WebhookId) {
  const http = yield* PublicHttp
  const vault = yield* Vault
  const webhooks = yield* makeWebhooksRepo

  /** Where deliveries go now; nothing when the webhook is gone or switched off. */
  const destination = Effect.gen(function*() {
    const target = Option.getOrUndefined(yield* webhooks.target(id))
    if (target === undefined || !target.is_active) return Option.none<Destination>()
    const secret = yield* vault.open(sealedSecret(id), target.secret)
    return Option.some({ url: target.url, key: signingKey(Redacted.make(Buffer.from(secret).toString("utf8"))) })
  }).pipe(Effect.orDie)

  /** One request; whatever comes of it is a record to write down. */
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
        })),
      // A request that cannot be made at all uses up its attempts as well: nothing may wait for ever.
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("a webhook request could not be made", defect), {
          outcome: { _tag: "Broke", error: "connection_reset" } satisfies Outcome,
          body: null
        })
      )
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

  return { destination, attempt }
})
