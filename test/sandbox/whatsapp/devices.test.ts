import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readUntil } from "../../support/readUntil.ts"
import { ann, bob, cid, jid, makeSimulator, session } from "../../support/simulatedSession.ts"

describe("devices of the simulated WhatsApp", () => {
  it.live("two sessions write to each other and receive receipts", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client: first } = yield* session(simulator, ann)
      const { client: second } = yield* session(simulator, bob)
      const sent = yield* Effect.promise(() => first.socket.sendMessage(jid(bob), { text: "ping" }))
      yield* Effect.promise(() => second.until(() => second.texts.length === 1))
      const ping = second.received.find(({ key }) => !key.fromMe)
      yield* Effect.promise(() => second.socket.readMessages(ping ? [ping.key] : []))
      yield* Effect.promise(() =>
        first.until(() => first.receipts.filter(({ id, type }) => id === sent?.key.id && type === "read").length === 2)
      )
      yield* Effect.promise(() => second.socket.sendMessage(jid(ann), { text: "pong" }))
      yield* Effect.promise(() => first.until(() => first.texts.includes("pong")))
      assert.deepStrictEqual(simulator.controls.messages(ann, bob).map(({ text }) => text), ["ping", "pong"])
    }))

  it.live("a device linked later gets only messages from then on", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "before" }))
      yield* Effect.promise(() => client.until(() => client.receipts.length === 2))
      const { client: late } = yield* session(simulator, bob)
      yield* readUntil(
        () => simulator.controls.sessions().find(({ number }) => number === ann)?.waiting,
        (waiting) => waiting === 0
      )
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "after" }))
      yield* Effect.promise(() => late.until(() => late.texts.length === 1))
      assert.deepStrictEqual(late.texts, ["after"])
    }))

  it.live("a session that runs out of pre-keys is asked for more", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, client } = yield* session(simulator, ann)
      const uploads = () => auth.creds.nextPreKeyId
      const before = uploads()
      // Each phone's first message uses up one pre-key; 812 are too many to wait for, so most are removed.
      simulator.controls.keepPreKeys(`${ann}:1`, 5)
      yield* Effect.promise(() => simulator.controls.sendText(cid, ann, { text: "one key fewer" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 1))
      yield* readUntil(uploads, (next) => next > before)
      yield* readUntil(() => simulator.controls.sessions()[0]?.preKeys ?? 0, (count) => count >= 9)
    }))

  it.live("with a number rule a number gets a phone when it is looked up", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator({ createsPhone: (number) => !number.endsWith("0000") })
      const { client } = yield* session(simulator, ann)
      const found = yield* Effect.promise(() => client.socket.onWhatsApp(jid("15551234567"), jid("15551230000")))
      assert.deepStrictEqual(found, [{ jid: jid("15551234567"), exists: true }])
      yield* Effect.promise(() => client.socket.sendMessage(jid("15557654321"), { text: "hello" }))
      yield* readUntil(
        () => simulator.controls.phones().some(({ number }) => number === "15557654321"),
        (isFound) => isFound
      )
      yield* readUntil(() => simulator.controls.messages("15557654321"), ({ length }) => length === 1)
    }))

  it.live("a phone that does not send receipts by itself sends them on request", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      simulator.controls.setReceipts(bob, { delivered: false, read: false })
      const sent = yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "hello" }))
      const id = sent?.key.id ?? ""
      yield* readUntil(() => simulator.controls.messages(bob), ({ length }) => length === 1)
      assert.deepStrictEqual(client.receipts, [])
      simulator.controls.sendReceipt(bob, id, "delivered")
      simulator.controls.sendReceipt(bob, id, "read")
      yield* Effect.promise(() => client.until(() => client.receipts.length === 2))
      assert.deepStrictEqual(client.receipts.map(({ type }) => type), [undefined, "read"])
    }))

  it.live("a group message that cannot be decrypted is requested again, in both directions", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const group = simulator.controls.createGroup(bob, "Team", [ann, cid])
      simulator.controls.setFault(ann, { kind: "corrupt" })
      yield* Effect.promise(() => simulator.controls.sendText(bob, group.id, { text: "first" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 1))
      yield* Effect.promise(() => simulator.controls.sendText(bob, group.id, { text: "second" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 2))
      assert.deepStrictEqual(client.texts, ["first", "second"])
      simulator.controls.setFault(ann, { kind: "ask-retry", times: 3 })
      yield* Effect.promise(() => client.socket.sendMessage(group.id, { text: "third" }))
      for (const number of [bob, cid]) {
        const texts = () => simulator.controls.messages(number, group.id).map(({ text }) => text)
        yield* readUntil(texts, (found) => found.includes("third"))
      }
    }))
})
