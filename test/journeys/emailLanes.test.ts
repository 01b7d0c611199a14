import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { interval } from "../../src/channels/email/recipients/BulkThrottle.ts"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

layer(Relay.layer(), { excludeTestServices: true })("single and bulk email", (it) => {
  it.effect("a batch is throttled while single emails are being sent, and every single email arrives", () =>
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
      // The pace lapses while the machine stalls, so 80 % of it must hold.
      assert.isAbove(took, 0.8 * recipients.length * interval)
      yield* sink.until(({ messages }) => messages.filter(isSingle).length >= sent)
      assert.isAbove(sent, 4)
    }))
})
