import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BaileysClient, MemoryAuth } from "../../support/baileysClient.ts"
import { ann, bob, jid, makeSimulator, online, paired, session } from "../../support/simulatedSession.ts"

describe("pairing with the simulated WhatsApp", () => {
  it.live("by QR code a client restarts, logs in, uploads its pre-keys and gets a history", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth, closeCode, session } = yield* paired(simulator, ann)
      assert.strictEqual(closeCode, 515)
      assert.strictEqual(session, `${ann}:1`)
      assert.strictEqual(auth.creds.me?.id, `${ann}:1@s.whatsapp.net`)
      const client = yield* online(simulator, auth)
      yield* Effect.promise(() => client.until(() => client.historyCount === 1))
      const [view] = simulator.controls.sessions()
      assert.strictEqual(view?.isConnected, true)
      assert.strictEqual(view?.logins, 1)
      assert.isAbove(view?.preKeys ?? 0, 800)
    }))

  it.live("a QR code links one device: a second scan by its phone changes nothing, and one by another phone is refused", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const auth = new MemoryAuth()
      const client = new BaileysClient(auth, { url: simulator.url })
      yield* Effect.promise(() => client.until(() => client.qr !== undefined))
      const linked = simulator.controls.scan(client.qr ?? "", ann)
      assert.strictEqual(simulator.controls.scan(client.qr ?? "", ann), linked)
      assert.throws(() => simulator.controls.scan(client.qr ?? "", bob), /No client shows this QR code now/)
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      assert.strictEqual(client.closeCode, 515)
      assert.isTrue((yield* online(simulator, auth)).isOpen)
      assert.deepStrictEqual(simulator.controls.sessions().map((one) => one.session), [linked])
    }))

  it.live("a client pairs by a code typed into the phone", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const auth = new MemoryAuth()
      const first = new BaileysClient(auth, { url: simulator.url })
      yield* Effect.promise(() => first.until(() => first.qr !== undefined))
      const code = yield* Effect.promise(() => first.socket.requestPairingCode(ann))
      yield* Effect.promise(() => simulator.controls.enterPairingCode(`${code.slice(0, 4)}-${code.slice(4)}`, ann))
      yield* Effect.promise(() => first.until(() => first.closeCode !== undefined))
      assert.strictEqual(first.closeCode, 515)
      assert.isTrue((yield* online(simulator, auth)).isOpen)
    }))

  it.live("the server answers a ping of a client that is not paired yet", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const client = new BaileysClient(new MemoryAuth(), { url: simulator.url })
      yield* Effect.promise(() => client.until(() => client.qr !== undefined))
      const attrs = { id: "alive", to: "s.whatsapp.net", type: "get", xmlns: "w:p" }
      const answer = yield* Effect.promise(() =>
        client.socket.query({ tag: "iq", attrs, content: [{ tag: "ping", attrs: {} }] })
      )
      assert.deepInclude(answer, { tag: "iq" })
      assert.deepInclude(Reflect.get(Object(answer), "attrs"), { id: "alive", type: "result" })
      client.end()
    }))

  it.live("a wrong code links nothing", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const client = new BaileysClient(new MemoryAuth(), { url: simulator.url })
      yield* Effect.promise(() => client.until(() => client.qr !== undefined))
      yield* Effect.promise(() => client.socket.requestPairingCode(ann, "ABCDEFGH"))
      yield* Effect.promise(() => simulator.controls.enterPairingCode("ABCDEFGJ", ann))
      yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
      assert.deepStrictEqual(simulator.controls.sessions(), [])
    }))

  it.live("texts go both ways, to numbers and LIDs, with ack, delivery and read receipts", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const sent = yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "hello" }))
      const id = sent?.key.id ?? ""
      yield* Effect.promise(() => client.until(() => client.receipts.length === 2))
      assert.deepStrictEqual(client.acks, [{ id, error: undefined }])
      assert.deepStrictEqual(client.receipts, [
        { id, type: undefined, from: jid(bob) },
        { id, type: "read", from: jid(bob) }
      ])
      assert.deepStrictEqual(simulator.controls.messages(bob).map(({ from, id, text }) => ({ from, id, text })), [
        { from: ann, id, text: "hello" }
      ])
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "by number" }))
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "by LID", addressing: "lid" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 2))
      const keys = client.received.filter(({ key }) => !key.fromMe).map(({ key }) => key)
      assert.deepStrictEqual(client.texts, ["by number", "by LID"])
      assert.strictEqual(keys[0]?.remoteJid, jid(bob))
      assert.match(keys[0]?.remoteJidAlt ?? "", /@lid$/)
      assert.match(keys[1]?.remoteJid ?? "", /@lid$/)
      assert.strictEqual(keys[1]?.remoteJidAlt, jid(bob))
    }))
})
