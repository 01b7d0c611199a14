import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create, happen } from "../support/webhookStories.ts"
import { rounds } from "./inTime.ts"

/** Milliseconds between one attempt and the next (spec 6.6); the last delay is too long for every test run. */
const delays = rounds > 1 ? [5_000, 30_000, 120_000] : [5_000, 30_000]

/** How late an attempt may be: in a normal run other test files share the cores. */
const lateness = rounds > 1 ? 250 : 20_000

layer(Service.layer(), { excludeTestServices: true })("retries of webhooks", (it) => {
  it.effect(
    "retries of several webhooks are made when they are due, never early",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receivers = yield* Effect.replicateEffect(makeWebhookReceiver({ script: [500] }), 4)
        for (const { url } of receivers) yield* create(node, key, { url, events: ["*"] })
        yield* happen(node, key)
        for (const { received } of receivers) {
          const requests = yield* received(2 * (delays.length + 1), rounds > 1 ? "180 seconds" : "120 seconds")
          const events = Map.groupBy(requests, ({ headers }) => headers["webhook-id"])
          assert.strictEqual(events.size, 2)
          for (const attempts of events.values()) {
            const gaps = attempts.slice(1).map((one, index) =>
              one.arrivedAtMillis - (attempts[index]?.arrivedAtMillis ?? 0)
            )
            assert.lengthOf(gaps, delays.length)
            for (const [index, delay] of delays.entries()) {
              const gap = gaps[index] ?? 0
              assert.isTrue(gap >= delay && gap <= delay + lateness, `${gap} ms instead of ${delay}`)
            }
          }
        }
      })
  )
})
