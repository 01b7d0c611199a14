import { Cause, Clock, Effect, Exit, Option, Redacted } from "effect"
import { Vault } from "../../platform/crypto/Vault.ts"
import { type PostResponse, PublicHttp, type PublicHttpFailure } from "../../platform/net/PublicHttp.ts"
import type { AccountId, DeliveryId, WebhookId } from "../../values/Ids.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import type { RetryPolicyName } from "../endpoint/Webhook.ts"
import { decodeHeaders, type WebhookHeaders } from "../endpoint/WebhookHeaders.ts"
import * as WebhookSecret from "../endpoint/WebhookSecret.ts"
import type { Target } from "../endpoint/WebhooksRepo.ts"
import { type Outcome, type Transition, transition } from "./DeliveryState.ts"
import type { ClaimedDelivery } from "./QueueRepo.ts"

/** The URL of a webhook's endpoint, the keys that sign its deliveries, and how they are sent. */
export interface Endpoint {
  readonly account: AccountId
  readonly url: URL
  readonly key: WebhookSecret.SigningKey
  /** The key before a rotation, and when it stops signing, in Unix milliseconds. */
  readonly previous: { readonly key: WebhookSecret.SigningKey; readonly until: number } | undefined
  readonly retryPolicy: RetryPolicyName
  /** The owner's headers. They never replace one of the service. */
  readonly headers: WebhookHeaders | undefined
}

/** The outcome of one attempt, ready to be written. */
export interface AttemptRecord {
  readonly webhookId: WebhookId
  readonly deliveryId: DeliveryId
  readonly claimedAt: Timestamp | null
  /** In Unix milliseconds. */
  readonly startedAt: number
  readonly durationMs: number
  readonly responseBody: Uint8Array | null
  /** The endpoint's Retry-After header. It is recorded only; the schedule stays as it is (spec 6.6). */
  readonly retryAfter: string | null
  readonly transition: Transition
}

type PostExit = Exit.Exit<PostResponse, PublicHttpFailure>

interface Response extends Pick<AttemptRecord, "responseBody" | "retryAfter"> {
  readonly outcome: Outcome
  /** Of the request itself, without its wait for a connection. */
  readonly durationMs: number
}

const classify = (exit: PostExit): Response => {
  if (Exit.isSuccess(exit)) {
    const { body, durationMs, retryAfter = null, status } = exit.value
    return { outcome: { _tag: "Answered", status }, responseBody: body, retryAfter, durationMs }
  }
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  // A request that cannot be made at all uses up its attempts as well: no delivery may wait for ever.
  const error = failure?.reason ?? "connection_reset"
  const outcome = { _tag: "Broke", error, status: failure?.status } as const
  return { outcome, responseBody: null, retryAfter: null, durationMs: failure?.durationMs ?? 0 }
}

const logDefect = (exit: PostExit) =>
  Exit.isFailure(exit) && Exit.hasDies(exit)
    ? Effect.logError("webhook request failed unexpectedly", exit.cause)
    : Effect.void

const report = (
  { delivery, endpoint, startedAt, webhookId }: {
    readonly webhookId: WebhookId
    readonly endpoint: Endpoint
    readonly delivery: ClaimedDelivery
    readonly startedAt: number
  },
  { durationMs, outcome, responseBody, retryAfter }: Response
): AttemptRecord => ({
  webhookId,
  deliveryId: delivery.id,
  claimedAt: delivery.claimed_at,
  startedAt,
  durationMs: Math.round(durationMs),
  responseBody,
  retryAfter,
  transition: transition(
    { ...delivery, status: delivery.attempt_count === 0 ? "pending" : "retrying" },
    outcome,
    endpoint.retryPolicy
  )
})

const signedAt = (startedAt: number, { headers, key, previous }: Endpoint, delivery: ClaimedDelivery) => {
  const signed = WebhookSecret.sign({
    ...delivery,
    delivery_id: delivery.id,
    attempt: delivery.attempt_count + 1,
    timestamp: Math.floor(startedAt / 1000),
    key,
    previous_key: previous !== undefined && startedAt < previous.until ? previous.key : undefined
  })
  return headers === undefined ? signed : { ...headers, ...signed }
}

/** Makes single attempts: sign, post, classify, report. It keeps no state and writes nothing. */
export const make = Effect.gen(function*() {
  const http = yield* PublicHttp
  const vault = yield* Vault
  const clock = yield* Clock.Clock

  const openKey = (id: WebhookId, sealed: Uint8Array) =>
    Effect.map(
      Effect.orDie(vault.open(WebhookSecret.purpose(id), sealed)),
      (secret) => WebhookSecret.signingKey(Redacted.make(Buffer.from(secret).toString("utf8")))
    )

  const openHeaders = (id: WebhookId, sealed: Uint8Array) =>
    Effect.map(
      Effect.orDie(vault.open(WebhookSecret.headersPurpose(id), sealed)),
      (headers) => decodeHeaders(Buffer.from(headers).toString("utf8"))
    )

  /** Opens the secrets and the headers of a webhook. */
  const endpointOf = Effect.fnUntraced(function*(id: WebhookId, target: Target) {
    const { account_id: account, previous_millis, previous_secret, secret, url } = target
    const until = clock.currentTimeMillisUnsafe() + (previous_millis ?? 0)
    const previous = previous_secret === null ? undefined : { key: yield* openKey(id, previous_secret), until }
    return {
      account,
      url: new URL(url),
      key: yield* openKey(id, secret),
      previous,
      retryPolicy: target.retry_policy,
      headers: target.headers === null ? undefined : yield* openHeaders(id, target.headers)
    } satisfies Endpoint
  })

  /**
   * Makes one attempt; every outcome becomes a record. The request is signed when it starts: before that it may wait for
   * minutes at a crowded host, and a receiver rejects an old signature as a replay.
   */
  const attempt = (webhookId: WebhookId, endpoint: Endpoint, delivery: ClaimedDelivery): Effect.Effect<AttemptRecord> =>
    Effect.suspend(() => {
      let startedAt = clock.currentTimeMillisUnsafe()
      const headers = () => {
        startedAt = clock.currentTimeMillisUnsafe()
        return signedAt(startedAt, endpoint, delivery)
      }
      return http.post({ url: endpoint.url, account: endpoint.account, headers, body: delivery.body }).pipe(
        Effect.exit,
        Effect.tap(logDefect),
        Effect.map((exit) => report({ webhookId, endpoint, delivery, startedAt }, classify(exit)))
      )
    })

  return { endpointOf, attempt }
})

export type DeliveryAttempt = Effect.Success<typeof make>
