import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { PublicHttp } from "../../../src/platform/net/PublicHttp.ts"
import { AccountId, DeliveryId, WebhookId } from "../../../src/values/Ids.ts"
import * as DeliveryAttempt from "../../../src/webhooks/delivery/DeliveryAttempt.ts"
import { signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const key = signingKey(Redacted.make(secret))
const body = Buffer.from(`{"event":"email.sent"}`)

/** One attempt that waits for six minutes before its request starts. Returns the headers and the record. */
const attempted = Effect.fnUntraced(function*(previousUntil?: (now: number) => number) {
  const start = (yield* TestClock.withLive(Clock.currentTimeMillis)) - 360_000
  yield* TestClock.setTime(start)
  let headers: Readonly<Record<string, string>> = {}
  const waiting = PublicHttp.of({
    post: (request) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("6 minutes")
        headers = request.headers()
        return {
          status: 200,
          kind: "success",
          location: undefined,
          retryAfter: undefined,
          body,
          truncated: false,
          durationMs: 1
        }
      })
  })
  const { attempt } = yield* DeliveryAttempt.make.pipe(
    Effect.provideService(PublicHttp, waiting),
    Effect.provide(Vault.layer(Redacted.make(new Uint8Array(32))))
  )
  const until = previousUntil?.(start + 360_000)
  const record = yield* attempt(
    WebhookId.make(1),
    {
      account: AccountId.make(1),
      url: new URL("https://hooks.example/"),
      key,
      previous: until === undefined ? undefined : { key, until },
      retryPolicy: "standard",
      headers: { "X-Team": "ops", "webhook-id": "forged" }
    },
    {
      id: DeliveryId.make(1),
      event_id: "evt_1",
      event: "email.sent",
      attempt_count: 0,
      claimed_at: null,
      is_test: false,
      all_gone: true,
      body
    }
  )
  return { headers, record, start }
})

describe("DeliveryAttempt", () => {
  it.effect("signs and dates a request when it starts, although it waited for minutes at a crowded host", () =>
    Effect.gen(function*() {
      const { headers, record, start } = yield* attempted()
      assert.strictEqual(record.startedAt, start + 360_000)
      assert.strictEqual(headers["webhook-timestamp"], String(Math.floor(record.startedAt / 1000)))
      // The receiver's library compares with the real clock and refuses signatures that are five minutes old.
      new Webhook(secret).verify(body, headers)
    }))

  it.effect("sends the owner's headers, and none of them replaces a header of the service", () =>
    Effect.gen(function*() {
      const { headers } = yield* attempted()
      assert.deepInclude(headers, { "X-Team": "ops", "webhook-id": "evt_1" })
    }))

  it.effect("signs with the previous secret until its overlap ends, by the moment when the request starts", () =>
    Effect.gen(function*() {
      const during = yield* attempted((now) => now + 1)
      assert.property(during.headers, "X-Service-Signature-Previous")
      const after = yield* attempted((now) => now)
      assert.notProperty(after.headers, "X-Service-Signature-Previous")
      assert.notInclude(after.headers["webhook-signature"], " ")
    }))
})
