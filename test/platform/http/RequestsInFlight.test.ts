import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Latch, Layer } from "effect"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { RequestsInFlight } from "../../../src/platform/http/RequestsInFlight.ts"

const limits = { HTTP_CONNECTIONS: "10", HTTP_CONNECTIONS_PER_ADDRESS: "4" }

const Limited = RequestsInFlight.layer.pipe(
  Layer.provide(AppConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(limits)))
)

layer(Limited)("RequestsInFlight", (it) => {
  it.effect("an address may have its share in flight, and an IPv6 network counts as one address", () =>
    Effect.gen(function*() {
      const { ofAddress } = yield* RequestsInFlight
      const latch = yield* Latch.make()
      const held = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4], (host) => ofAddress(`2001:db8::${host}`, latch.await), {
          concurrency: "unbounded"
        })
      )
      yield* Effect.yieldNow
      assert.strictEqual((yield* Effect.flip(ofAddress("2001:db8::5", Effect.void)))._tag, "ServiceUnavailable")
      yield* ofAddress("2001:db8:0:1::5", Effect.void)
      yield* ofAddress("192.0.2.1", Effect.void)
      yield* latch.open
      yield* Fiber.join(held)
      yield* ofAddress("2001:db8::5", Effect.void)
    }))

  it.effect("all addresses together have the node's limit in flight", () =>
    Effect.gen(function*() {
      const { ofAddress } = yield* RequestsInFlight
      const latch = yield* Latch.make()
      const held = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 10 }), (_, index) => ofAddress(`192.0.2.${index}`, latch.await), {
          concurrency: "unbounded"
        })
      )
      yield* Effect.yieldNow
      assert.strictEqual((yield* Effect.flip(ofAddress("192.0.2.10", Effect.void)))._tag, "ServiceUnavailable")
      yield* Fiber.interrupt(held)
      yield* ofAddress("192.0.2.10", Effect.void)
    }))

  it.effect("an account has one share for all its addresses", () =>
    Effect.gen(function*() {
      const { ofAccount } = yield* RequestsInFlight
      const latch = yield* Latch.make()
      const held = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4], () => ofAccount(1, latch.await), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow
      assert.strictEqual((yield* Effect.flip(ofAccount(1, Effect.void)))._tag, "ServiceUnavailable")
      yield* ofAccount(2, Effect.void)
      yield* latch.open
      yield* Fiber.join(held)
    }))
})
