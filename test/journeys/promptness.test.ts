import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inTime } from "../faults/inTime.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

layer(Relay.layer(), { excludeTestServices: true })("a single email", (it) => {
  it.effect("reaches the relay before a sweep could find it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const millis: Array<number> = []
      for (let index = 0; index < 11; index++) {
        const to = `quick${index}@people.example`
        yield* sendEmail(node, key, { to, subject: "s", text: "t" })
        const accepted = performance.now()
        yield* sink.until(({ messages }) => messages.some((message) => message.to.includes(to)))
        millis.push(Math.round(performance.now() - accepted))
      }
      const median = millis.toSorted((a, b) => a - b)[5] ?? 0
      assert.isBelow(median, inTime(200), `milliseconds: ${millis.join(" ")}`)
    }))
})
