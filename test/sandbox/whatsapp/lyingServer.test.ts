import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ann, bob, jid, makeSimulator, online, session } from "../../support/simulatedSession.ts"

describe("misbehaviour of the simulated WhatsApp", () => {
  for (const kind of ["truncated-node", "bad-frame"] as const) {
    it.live(`a ${kind} ends the connection, and the next login gets the waiting message`, () =>
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

  it.live("an unknown stanza does no harm", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client, session: name } = yield* session(simulator, ann)
      simulator.controls.misbehave(name, "unknown-stanza")
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "still here" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 1))
    }))

  it.live("a client notices a silent server by its keep-alive", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client, session: name } = yield* session(simulator, ann, { keepAliveIntervalMs: 300 })
      simulator.controls.misbehave(name, "silence")
      // Not awaited: a query in flight when Baileys ends a connection hangs until its own timeout.
      void client.socket.sendMessage(jid(bob), { text: "lost" }).catch(() => undefined)
      yield* Effect.promise(() => client.until(() => client.isClosed))
      assert.strictEqual(client.closeCode, 408)
      assert.deepStrictEqual(simulator.controls.messages(bob), [])
    }))
})
