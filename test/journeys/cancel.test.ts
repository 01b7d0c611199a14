import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inTime } from "../faults/inTime.ts"
import { sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Seconds until the counts of a canceled batch no longer change. */
const longest = 1

/** Waits until nothing of a canceled batch is queued, and checks its counts. */
const final = Effect.fnUntraced(function*(node: RunningNode, key: string, path: string) {
  const begun = performance.now()
  const { at } = yield* eventually(node.request("GET", path, { key }), ({ at }) => at("data", "queued") === 0)
  assert.isBelow(performance.now() - begun, 1_000 * inTime(longest))
  const { canceled, sent, status, total } = Object(at("data")) as Record<string, unknown>
  assert.strictEqual(status, "canceled")
  assert.strictEqual(Number(sent) + Number(canceled), total)
  return { sent: Number(sent), canceled: Number(canceled), data: at("data") }
})

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the cancel of a batch", (it) => {
  it.effect("reaches the recipients of an email batch that another node has claimed, and no mail begins after its answer", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 40, rcptMillis: 40 }) })
      const options = { smtpPort: sink.port, env: { LOG_LEVEL: "debug" } }
      const nodes = yield* Effect.all([startNode(options), startNode(options)], { concurrency: 2 })
      const { key } = yield* makeAccount()
      for (const headers of [{}, { "idempotency-key": "cancel-1" }]) {
        const before = { attempts: sink.attempts.size, messages: sink.messages.length }
        const recipients = Array.from({ length: 300 }, (_, n) => `${before.attempts}-${n}@people.example`)
        const batch = yield* sendBulk(nodes[0], key, { subject: "Hello", html: "Hello", recipients })
        yield* sink.until(({ attempts }) => attempts.size - before.attempts >= 20)
        const owns = (node: RunningNode) =>
          node.logs.some((line) => line.includes(batch) && line.includes("sending a batch on this node"))
        const other = nodes.find((node) => !owns(node)) ?? assert.fail("both nodes send the batch")
        const path = `/v1/email/batches/${batch}`
        const answer = yield* other.request("POST", `${path}/cancel`, { key, headers })
        assert.strictEqual(answer.status, 200, answer.text)
        // What the node wrote before has arrived with this answer at the latest.
        yield* other.request("GET", path, { key })
        const begun = sink.attempts.size
        assert.isAtMost(Number(answer.at("data", "queued")), 5, "only the connections' transactions go on")
        const { data, sent } = yield* final(other, key, path)
        assert.deepStrictEqual([sink.attempts.size, sink.messages.length - before.messages], [begun, sent])
        assert.deepStrictEqual((yield* nodes[0].request("POST", `${path}/cancel`, { key })).at("data"), data)
      }
    }))
})
