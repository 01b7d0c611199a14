import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create, happen } from "../support/webhookStories.ts"
import { rounds } from "./inTime.ts"

/** How long after the attempt before it each is made, in milliseconds (spec 6.6); the last takes too long for every run. */
const delays = rounds > 1 ? [5_000, 30_000, 120_000] : [5_000, 30_000]

/**
 * What an attempt may be late, on a machine of its own. Beside other tests one may not even arrive, when the machine stands
 * still for longer than a request may last; that none is early holds anywhere.
 */
const late = rounds > 1 ? 250 : Infinity

layer(Service.layer(), { excludeTestServices: true, timeout: "60 seconds" })("retries of webhooks", (it) => {
  it.effect(
    "are made when they are due, several at the same time: none early, and none late that a machine has time for",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const receivers = yield* Effect.replicateEffect(makeWebhookReceiver({ script: [500] }), 4)
        for (const { url } of receivers) yield* create(node, key, { url, events: ["*"] })
        yield* happen(node, key)
        for (const { received } of receivers) {
          const requests = yield* received(2 * (delays.length + 1))
          const events = Map.groupBy(requests, ({ headers }) => headers["webhook-id"])
          assert.strictEqual(events.size, 2)
          for (const attempts of events.values()) {
            const gaps = attempts.slice(1).map((one, index) =>
              one.arrivedAtMillis - (attempts[index]?.arrivedAtMillis ?? 0)
            )
            for (const [index, gap] of gaps.entries()) {
              const delay = delays[index] ?? Infinity
              assert.isTrue(gap >= delay && gap <= delay + late, `${gap} ms instead of ${delay}`)
            }
          }
        }
      }),
    240_000
  )
})
