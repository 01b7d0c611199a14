import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ann, bob, jid, makeSimulator, online, session } from "../../support/simulatedSession.ts"

describe("a simulated WhatsApp that misbehaves", () => {
  for (const kind of ["truncated-node", "bad-frame"] as const) {
    it.live(`ends the connection with a ${kind}; the next login gets what was waiting`, () =>
      Effect.gen(function*() {
        const simulator = yield* makeSimulator()
        const { auth, client, session: name } = yield* session(simulator, ann)
        simulator.controls.misbehave(name, kind)
        yield* Effect.promise(() => client.until(() => client.isClosed))
        yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "still here" }))
        const again = yield* online(simulator, auth)
        yield* Effect.promise(() => again.until(() => again.texts.length === 1))
        assert.deepStrictEqual(again.texts, ["still here"])
      }))
  }

  it.live("does no harm with an unknown stanza", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client, session: name } = yield* session(simulator, ann)
      simulator.controls.misbehave(name, "unknown-stanza")
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "still here" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 1))
    }))

  it.live("falls silent, and the client finds out by its keep-alive", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client, session: name } = yield* session(simulator, ann, { keepAliveIntervalMs: 300 })
      simulator.controls.misbehave(name, "silence")
      // Not waited for: a query that is under way when Baileys ends a connection hangs until its own timeout.
      void client.socket.sendMessage(jid(bob), { text: "nobody hears" }).catch(() => undefined)
      yield* Effect.promise(() => client.until(() => client.isClosed))
      assert.strictEqual(client.closeCode, 408)
      assert.deepStrictEqual(simulator.controls.messages(bob), [])
    }))
})
