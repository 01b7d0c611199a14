import { Cause, Clock, Effect, Exit, Option, Redacted } from "effect"
import { Vault } from "../../platform/crypto/Vault.ts"
import { type PostResponse, PublicHttp, type PublicHttpFailure } from "../../platform/net/PublicHttp.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { sealedSecret } from "../endpoint/sealedSecret.ts"
import { sign, type SigningKey, signingKey } from "../endpoint/WebhookSecret.ts"
import type { Target } from "../endpoint/WebhooksRepo.ts"
import type { AttemptRecord } from "./DeliveryOutcomes.ts"
import { type Outcome, transition } from "./DeliveryState.ts"
import type { Taken } from "./QueueRepo.ts"

/** Where a webhook's deliveries go, and what signs them. */
export interface Destination {
  readonly url: URL
  readonly key: SigningKey
  /** The key before a rotation, and when it stops to sign, in Unix milliseconds. */
  readonly previous: { readonly key: SigningKey; readonly until: number } | undefined
}

interface Answered {
  readonly outcome: Outcome
  readonly body: Uint8Array | null
  readonly retryAfter: string | null
  /** Of the request itself, without what it waited before. */
  readonly durationMs: number
}

const answerOf = (exit: Exit.Exit<PostResponse, PublicHttpFailure>): Answered => {
  if (Exit.isSuccess(exit)) {
    return {
      outcome: { _tag: "Answered", status: exit.value.status },
      body: exit.value.body,
      retryAfter: exit.value.retryAfter ?? null,
      durationMs: exit.value.durationMs
    }
  }
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  // A request that cannot be made at all uses up its attempts as well: nothing may wait for ever.
  const error = failure?.reason ?? "connection_reset"
  const outcome = { _tag: "Broke", error, status: failure?.status } as const
  return { outcome, body: null, retryAfter: null, durationMs: failure?.durationMs ?? 0 }
}

/** Carries deliveries to the endpoints of webhooks; it remembers nothing. */
export const makeCourier = Effect.gen(function*() {
  const http = yield* PublicHttp
  const vault = yield* Vault
  const clock = yield* Clock.Clock

  const keyOf = (id: WebhookId, sealed: Uint8Array) =>
    Effect.map(
      Effect.orDie(vault.open(sealedSecret(id), sealed)),
      (secret) => signingKey(Redacted.make(Buffer.from(secret).toString("utf8")))
    )

  const destination = Effect.fnUntraced(function*(id: WebhookId, target: Target) {
    const { previous_millis, previous_secret, secret, url } = target
    const until = clock.currentTimeMillisUnsafe() + (previous_millis ?? 0)
    const previous = previous_secret === null ? undefined : { key: yield* keyOf(id, previous_secret), until }
    return { url: new URL(url), key: yield* keyOf(id, secret), previous } satisfies Destination
  })

  const signedAt = (startedAt: number, to: Destination, taken: Taken) =>
    sign({
      ...taken,
      delivery_id: taken.id,
      attempt: taken.attempt_count + 1,
      timestamp: Math.floor(startedAt / 1000),
      key: to.key,
      previous_key: to.previous !== undefined && startedAt < to.previous.until ? to.previous.key : undefined
    })

  /**
   * One request; whatever comes of it is a record to write down. It is signed when it begins: until then it may wait for
   * minutes at a crowded host, and a receiver takes an old signature for a replay.
   */
  const attempt = (webhookId: WebhookId, to: Destination, taken: Taken): Effect.Effect<AttemptRecord> =>
    Effect.suspend(() => {
      let startedAt = clock.currentTimeMillisUnsafe()
      const headers = () => {
        startedAt = clock.currentTimeMillisUnsafe()
        return signedAt(startedAt, to, taken)
      }
      return Effect.flatMap(Effect.exit(http.post({ url: to.url, headers, body: taken.body })), (exit) => {
        const { body, durationMs, outcome, retryAfter } = answerOf(exit)
        const record: AttemptRecord = {
          webhookId,
          deliveryId: taken.id,
          startedAt,
          durationMs: Math.round(durationMs),
          responseBody: body,
          retryAfter,
          transition: transition({ ...taken, status: taken.attempt_count === 0 ? "pending" : "retrying" }, outcome)
        }
        return Exit.isFailure(exit) && Exit.hasDies(exit)
          ? Effect.as(Effect.logError("a webhook request could not be made", exit.cause), record)
          : Effect.succeed(record)
      })
    })

  return { destination, attempt }
})

export type Courier = Effect.Success<typeof makeCourier>
