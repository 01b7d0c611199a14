import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readUntil } from "../../support/readUntil.ts"
import { ann, bob, cid, jid, makeSimulator, online, session } from "../../support/simulatedSession.ts"

describe("faults of the simulated WhatsApp", () => {
  it.live("a text that the session cannot decrypt is requested again and arrives", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "first" }))
      simulator.controls.setFault(ann, { kind: "corrupt" })
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "second" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 2))
      assert.deepStrictEqual(client.texts, ["first", "second"])
      assert.strictEqual(simulator.controls.counters().phones[bob]?.retriesAnswered, 1)
    }))

  it.live("a text that the phone cannot decrypt is requested again and arrives once", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      yield* Effect.promise(() => client.socket.sendMessage(jid(cid), { text: "warm up" }))
      yield* readUntil(() => simulator.controls.messages(cid), ({ length }) => length === 1)
      simulator.controls.setFault(ann, { kind: "ask-retry", times: 2 })
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "hello" }))
      const found = yield* readUntil(() => simulator.controls.messages(bob), ({ length }) => length === 1)
      assert.strictEqual(found[0]?.text, "hello")
      const counters = simulator.controls.counters().phones
      assert.strictEqual((counters[bob]?.retriesAsked ?? 0) + (counters[ann]?.retriesAsked ?? 0), 2)
    }))

  it.live("numbers that are not on WhatsApp are absent from the answer", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const found = yield* Effect.promise(() => client.socket.onWhatsApp(jid(bob), jid("15559999999")))
      assert.deepStrictEqual(found, [{ jid: jid(bob), exists: true }])
    }))

  it.live("a refused message gets its error code in the ack and reaches no phone", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      simulator.controls.setFault(ann, { kind: "ack-error", code: 463 })
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "too much" }))
      yield* Effect.promise(() => client.until(() => client.acks.length === 1))
      assert.strictEqual(client.acks[0]?.error, "463")
      assert.deepStrictEqual(simulator.controls.messages(bob), [])
    }))

  it.live("a connection that drops before the ack loses the message, and one that drops after it does not", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client } = yield* session(simulator, ann)
      simulator.controls.setFault(ann, { kind: "drop-before-ack" })
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "lost" }))
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      assert.strictEqual(client.closeCode, 428)
      assert.deepStrictEqual(client.acks, [])
      const again = yield* online(simulator, auth)
      simulator.controls.setFault(ann, { kind: "drop-after-ack" })
      yield* Effect.promise(() => again.socket.sendMessage(jid(bob), { text: "kept" }))
      yield* Effect.promise(() => again.until(() => again.closeCode !== undefined))
      yield* readUntil(() => simulator.controls.messages(bob), ({ length }) => length === 1)
      assert.deepStrictEqual(simulator.controls.messages(bob).map(({ text }) => text), ["kept"])
    }))

  it.live("messages sent during a disconnection arrive after the login in order, marked as appended", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client, session: name } = yield* session(simulator, ann)
      simulator.controls.dropConnection(name)
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      for (const text of ["one", "two", "three"]) {
        yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text }))
      }
      assert.strictEqual(simulator.controls.sessions()[0]?.waiting, 3)
      const again = yield* online(simulator, auth)
      yield* Effect.promise(() => again.until(() => again.texts.length === 3))
      assert.deepStrictEqual(again.texts, ["one", "two", "three"])
      assert.isTrue(again.received.every(({ upsert }) => upsert === "append"))
      yield* readUntil(() => simulator.controls.sessions()[0]?.waiting, (waiting) => waiting === 0)
    }))

  for (const code of [440, 503, 515]) {
    it.live(`a session can log in again after its connection ended with ${code}`, () =>
      Effect.gen(function*() {
        const simulator = yield* makeSimulator()
        const { auth, client, session: name } = yield* session(simulator, ann)
        simulator.controls.endConnection(name, code)
        yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
        assert.strictEqual(client.closeCode, code)
        assert.isTrue((yield* online(simulator, auth)).isOpen)
        assert.strictEqual(simulator.controls.sessions()[0]?.logins, 2)
      }))
  }

  it.live("a second login with the same credentials ends the first with 440", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client } = yield* session(simulator, ann)
      assert.isTrue((yield* online(simulator, auth)).isOpen)
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      assert.strictEqual(client.closeCode, 440)
    }))

  it.live("a session logged out by the phone gets 401, and its credentials are refused from then on", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client, session: name } = yield* session(simulator, ann)
      simulator.controls.logOut(name)
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      assert.strictEqual(client.closeCode, 401)
      const again = yield* online(simulator, auth)
      assert.strictEqual(again.closeCode, 401)
      assert.deepStrictEqual(simulator.controls.sessions(), [])
    }))

  it.live("a session that logs itself out disappears from the phone", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      yield* Effect.promise(() => client.socket.logout())
      yield* readUntil(() => simulator.controls.sessions(), ({ length }) => length === 0)
    }))

  it.live("a refused login ends with the requested code", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client, session: name } = yield* session(simulator, ann)
      simulator.controls.dropConnection(name)
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      simulator.controls.setFault(ann, { kind: "refuse-login", code: 403 })
      assert.strictEqual((yield* online(simulator, auth)).closeCode, 403)
      simulator.controls.setFault(ann, { kind: "stream-error", code: 503 })
      assert.strictEqual((yield* online(simulator, auth)).closeCode, 503)
    }))
})
