import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { interval } from "../../src/channels/email/recipients/BulkThrottle.ts"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

layer(Relay.layer(), { excludeTestServices: true, timeout: "60 seconds" })("single emails and batches", (it) => {
  it.effect("go side by side: a batch keeps to its pace while somebody sends single ones, which all arrive", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const single = sendEmail(node, key, { to: "single@people.example", subject: "Code", text: "123456" })
      const isSingle = ({ to }: { readonly to: ReadonlyArray<string> }) => to.includes("single@people.example")
      yield* single
      let sent = 1
      const singles = yield* Effect.forkChild(
        Effect.repeat(Effect.tap(single, () => Effect.sync(() => sent++)), Schedule.spaced("50 millis"))
      )
      const recipients = Array.from({ length: 500 }, (_, index) => `many${index}@people.example`)
      const started = performance.now()
      const batch = yield* sendBulk(node, key, { subject: "News", html: "<p>News</p>", recipients })
      const done = yield* ended(node, key, batch)
      const took = performance.now() - started
      yield* Fiber.interrupt(singles)
      assert.deepInclude(done.at("data"), { total: 500, sent: 500 })
      // A stall of the machine lets the pace lapse for its time, so not the whole of it is asked for.
      assert.isAbove(took, 0.8 * recipients.length * interval)
      yield* sink.until(({ messages }) => messages.filter(isSingle).length >= sent)
      assert.isAbove(sent, 4)
    }))
})
