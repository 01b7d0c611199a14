import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { PublicHttp } from "../../../src/platform/net/PublicHttp.ts"
import { AccountId, WebhookId } from "../../../src/values/Ids.ts"
import * as WebhookSecret from "../../../src/webhooks/endpoint/WebhookSecret.ts"
import { DeliveriesRepo } from "../../../src/webhooks/history/DeliveriesRepo.ts"
import * as TestDelivery from "../../../src/webhooks/history/TestDelivery.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../../support/WebhookReceiver.ts"

/** One connection for each host, and a long timeout. */
const Subject = Layer.mergeAll(
  DeliveriesRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)),
  Vault.layer(Redacted.make(new Uint8Array(32))),
  PublicHttp.layer({ allowLoopback: true, connectionsPerHost: 1, timeout: "30 seconds" }),
  AppConfig.layer.pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ WEBHOOK_TIMEOUT_SECONDS: "1" })))
  )
)

layer(Subject, { excludeTestServices: true })("TestDelivery", (it) => {
  it.effect("times out when other requests hold the host's only connection", () =>
    Effect.gen(function*() {
      const { seal } = yield* Vault
      const { post } = yield* PublicHttp
      const attempt = yield* TestDelivery.make
      const receiver = yield* makeWebhookReceiver({ script: ["hang"] })
      const url = `${receiver.url}/`
      yield* Effect.forkScoped(post({ url: new URL(url), headers: () => ({}), body: new Uint8Array() }))
      yield* receiver.received(1)
      const id = WebhookId.make(7)
      const target = {
        url,
        secret: seal(WebhookSecret.purpose(id), Buffer.from(`whsec_${Buffer.alloc(32, 7).toString("base64")}`)),
        id,
        account_id: AccountId.make(1),
        previous_secret: null,
        previous_millis: null,
        is_active: true,
        unhealthy_reason: null,
        retry_policy: "extended",
        headers: null,
        is_recovering: false
      } as const
      const { record } = yield* attempt(id, target, { event: "email.sent" })
      assert.deepInclude(record.transition, { status: "failed", error: "timeout", health: "undecided" })
      // One second for the attempt and three for a connection.
      assert.isTrue(record.durationMs >= 4_000 && record.durationMs < 6_000, String(record.durationMs))
      assert.strictEqual(receiver.requests.length, 1)
    }))
})
