import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, makeKey, type RunningNode, Service, startNode } from "../support/Service.ts"
import { eventually, longer } from "../support/waiting.ts"

const debug = { LOG_LEVEL: "debug" }

const runsBatches = (node: RunningNode) => node.logs.some((line) => line.includes("sending a batch on this node"))

/** Enough recipients for an actor: the accepting node sends smaller batches. */
const recipients = Array.from({ length: 51 }, (_, n) => `fine${n}@people.example`)

const sendOne = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients })
  const { at } = yield* ended(node, key, id)
  assert.deepInclude(at("data"), { status: "completed", sent: recipients.length })
})

layer(Relay.layer({ env: debug }), { excludeTestServices: true })("cluster", (it) => {
  it.effect("a second node joins, takes its share of the actors and hands them back when it stops", () =>
    Effect.gen(function*() {
      const first = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      yield* sendOne(first, key)
      const second = yield* startNode({ smtpPort: sink.port, env: debug })
      yield* sendOne(second, key)
      // Each batch has its own actor, so about half of them soon run on the new node.
      yield* eventually(sendOne(first, key), () => runsBatches(second), longer.takeover)
      assert.deepStrictEqual(yield* second.stop(), { code: 0, signal: null })
      yield* Effect.forEach(Array.from({ length: 20 }), () => sendOne(first, key), { concurrency: 5 })
      assert.isTrue(runsBatches(first))
    }))

  it.effect("a key revoked on one node is refused by the other node at once", () =>
    Effect.gen(function*() {
      const first = yield* Service
      const { sink } = yield* Relay
      const second = yield* startNode({ smtpPort: sink.port, env: debug })
      const { accountId, key } = yield* makeAccount()
      for (let round = 0; round < 10; round++) {
        const { id, key: short } = yield* makeKey(accountId)
        const list = second.request("GET", "/v1/webhooks", { key: short })
        assert.strictEqual((yield* list).status, 200)
        assert.strictEqual((yield* first.request("DELETE", `/v1/api-keys/${id}`, { key })).status, 200)
        const refused = yield* list
        assert.deepStrictEqual([refused.status, refused.at("error", "type")], [401, "revoked_api_key"])
      }
    }))
})
