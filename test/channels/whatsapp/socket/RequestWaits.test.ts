import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer } from "effect"
import { RequestWaits } from "../../../../src/channels/whatsapp/socket/RequestWaits.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { TestDatabase, transaction } from "../../../support/TestDatabase.ts"

const Subject = RequestWaits.layer.pipe(
  Layer.provide(AppConfig.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE_CONNECTIONS: "8" }))),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject, { excludeTestServices: true })("RequestWaits", (it) => {
  it.effect("lets requests hold a quarter of the connections, and any number of requests without a transaction", () =>
    Effect.gen(function*() {
      const { bounded } = yield* RequestWaits
      const answer = yield* Deferred.make<string>()
      const begun = yield* Effect.forEach([1, 2, 3], () => Deferred.make<void>())
      const waiting = yield* Effect.forEach(begun, (began, index) => {
        const wait = bounded(Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(answer)))
        return Effect.forkChild(index === 2 ? wait : transaction(wait))
      })
      yield* Effect.forEach(begun, Deferred.await)
      const refused = yield* Effect.flip(transaction(bounded(Deferred.await(answer))))
      assert.strictEqual(refused._tag, "ServiceUnavailable")
      yield* Deferred.succeed(answer, "code")
      assert.deepStrictEqual(yield* Effect.forEach(waiting, Fiber.join), ["code", "code", "code"])
      assert.strictEqual(yield* transaction(bounded(Effect.succeed("again"))), "again")
    }))
})
