import { assert, layer } from "@effect/vitest"
import { encodeBinaryNode } from "@whiskeysockets/baileys"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { frameOf } from "../../src/sandbox/whatsapp/wire/FrameReader.ts"
import { node as stanza } from "../../src/sandbox/whatsapp/wire/stanza.ts"
import { type Acceptance, type Lie, LyingWhatsApp, ref, showCodes } from "../support/LyingWhatsApp.ts"
import { readQr } from "../support/readQr.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import {
  createSession,
  listeningAccount,
  pairedSession,
  sessionOf,
  storedOf,
  untilStatus,
  WhatsApp
} from "../support/WhatsApp.ts"

class Lying
  extends Context.Service<Lying, LyingWhatsApp>()("messaging-service/test/journeys/whatsappLies.test/Lying")
{}

const Liar = Layer.effect(Lying, Effect.flatMap(WhatsApp, ({ simulator }) => LyingWhatsApp.make(simulator.url)))

/** A node that reaches the simulated WhatsApp through a server that lies on request. */
const Subject = Layer.unwrap(
  Effect.map(
    Lying,
    ({ url }) => Service.layer({ env: { WHATSAPP_URL: url, LOG_LEVEL: "debug", WHATSAPP_RETRY_LONGEST_SECONDS: "1" } })
  )
).pipe(Layer.provideMerge(Liar), Layer.provideMerge(WhatsApp.simulated))

const nonsense = Buffer.alloc(64, 0xa5)
const unknown = stanza("sandbox-nonsense", { from: "unknown@nowhere" }, [stanza("nothing", { of: "value" })])
const truncated = encodeBinaryNode(unknown).subarray(0, -4)

/** Lies that end a connection at any stage. */
const anywhere: Readonly<Record<string, Lie>> = {
  "a handshake of nonsense": { hello: nonsense },
  "an empty handshake": { hello: new Uint8Array() },
  "a frame that was never encrypted": { opened: (line) => line.sendRaw(frameOf(nonsense)) },
  "a node that ends in its middle": { opened: (line) => line.sendBytes(truncated) },
  "a stream error of no code": { opened: (line) => line.send(stanza("stream:error")) },
  "a stream error with an invalid code": { opened: (line) => line.send(stanza("stream:error", { code: "seven" })) },
  "a failure for now": { opened: (line) => line.send(stanza("failure", { reason: "503" })) },
  "the end of the line": { opened: (line) => line.drop() }
}

const beforeTheCode: Readonly<Record<string, Lie>> = {
  ...anywhere,
  "no codes at all": { opened: (line) => showCodes(line, []) },
  "a code of nothing": { opened: (line) => showCodes(line, [undefined]) },
  "a second code of nothing": { opened: (line) => showCodes(line, [ref(), undefined]) },
  "a login without a phone": { opened: (line) => line.send(stanza("success", { t: "0", lid: "1@lid" })) }
}

const instead = (change: (truth: Acceptance) => Partial<Acceptance>) => (liar: LyingWhatsApp, qr: string) =>
  liar.accept(qr, change)

const afterTheCode: Readonly<Record<string, (liar: LyingWhatsApp, qr: string) => void>> = {
  "a MAC made without the code": instead(() => ({ hmac: Buffer.alloc(32, 7) })),
  "no MAC": instead(() => ({ hmac: new Uint8Array() })),
  "an invalid identity": instead(() => ({ identity: nonsense })),
  "a device without a name": instead(() => ({ device: {} })),
  "a device with an invalid name": instead(() => ({ device: { jid: "nobody", lid: "nobody" } })),
  "a pairing of nothing": (liar, qr) =>
    liar.lineOf(qr).send(stanza("iq", { type: "set", id: "1" }, [stanza("pair-success")])),
  "a restart before anything": (liar, qr) => liar.lineOf(qr).send(stanza("stream:error", { code: "515" })),
  "a node that ends in its middle": (liar, qr) => liar.lineOf(qr).sendBytes(truncated),
  "a login without a phone": (liar, qr) => liar.lineOf(qr).send(stanza("success", { t: "0", lid: "1@lid" }))
}

const atLogin: Readonly<Record<string, Lie>> = {
  ...anywhere,
  "codes for a session that has a phone": { opened: (line) => showCodes(line, [ref(), ref()]) },
  "a login that ends in a broken node": {
    opened: (line) => line.send(stanza("success", { t: "0", lid: "1@lid" })),
    received: (line) => line.sendBytes(truncated)
  },
  "empty answers": {
    opened: (line) => line.send(stanza("success", { t: "x" })),
    received: (line, { attrs }) => {
      line.send(stanza("iq", { type: "result", id: attrs["id"] ?? "" }))
      line.drop()
    }
  }
}

/** Shows readable codes after a stanza that the session must ignore. */
const open: Lie = {
  opened: (line) => {
    line.send(unknown)
    showCodes(line, [ref(), ref()])
  }
}

layer(Subject, { excludeTestServices: true })("WhatsApp server that lies", (it) => {
  it.effect("a lie before the first code costs one connection: the session gets a code over the next one", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const liar = yield* Lying
      const { simulator: { controls } } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const bystander = yield* pairedSession(node, key)
      const lies = Object.values(beforeTheCode)
      liar.queue(...lies, open)
      const making = Array.from({ length: lies.length + 1 }, () => createSession(node, key))
      const sessions = yield* Effect.all(making, { concurrency: "unbounded" })
      assert.strictEqual(liar.remaining, 0)
      assert.strictEqual(new Set(sessions.map(({ qr }) => qr)).size, sessions.length)
      for (const { id } of sessions) {
        assert.deepInclude((yield* sessionOf(node, key, id)).json, { status: "pending", reason: null })
      }
      const view = controls.sessions().find(({ session }) => session === bystander.device)
      assert.deepInclude(view, { isConnected: true, logins: 1 })
      assert.isEmpty(node.logs.filter((line) => line.includes("WhatsApp session stopped")))
    }))

  it.effect("a lie after the scan pairs nothing, and the next code can be scanned", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const liar = yield* Lying
      const { phone, simulator: { controls } } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const lies = Object.entries(afterTheCode)
      liar.queue(...lies.map(() => open))
      const making = lies.map(([name, lie]) => Effect.map(createSession(node, key), (made) => ({ ...made, lie, name })))
      const sessions = yield* Effect.all(making, { concurrency: "unbounded" })
      for (const { lie, qr } of sessions) lie(liar, qr)
      const codes = yield* Effect.forEach(sessions, ({ id, name, qr }) =>
        Effect.gen(function*() {
          const code = node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key })
          const next = yield* eventually(
            code,
            ({ at, status }) => status === 200 && readQr(String(at("qr_code"))) !== qr,
            longer.turn
          )
          assert.deepInclude((yield* sessionOf(node, key, id)).json, { status: "pending", phone_number: null }, name)
          assert.strictEqual((yield* storedOf(id)).keys, 0, name)
          return { id, next: readQr(String(next.at("qr_code"))) }
        }), { concurrency: "unbounded" })
      const number = yield* phone
      for (const { id, next } of codes.slice(0, 1)) {
        controls.scan(next, number)
        yield* untilStatus(node, key, id, "connected")
      }
    }))

  it.effect("a device refused at pairing fails the session, which can be paired again", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const liar = yield* Lying
      const { key } = yield* makeAccount()
      liar.queue(open)
      const { id, qr } = yield* createSession(node, key)
      liar.lineOf(qr).send(stanza("failure", { reason: "403" }))
      assert.strictEqual((yield* untilStatus(node, key, id, "failed")).at("reason"), "logged_out")
      const code = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key })
      assert.strictEqual(code.status, 200, code.text)
    }))

  it.effect("a caller who gives up waiting for a pairing code gets one over the next connection", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const liar = yield* Lying
      const { key } = yield* makeAccount()
      const { id } = yield* createSession(node, key)
      const asked = yield* Deferred.make<void>()
      liar.queue({ opened: () => Deferred.doneUnsafe(asked, Effect.void) })
      const ask = node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-code`, {
        key,
        json: { phone_number: "+15550100300" }
      })
      const first = yield* Effect.forkChild(ask)
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(first)
      const answer = yield* ask
      assert.strictEqual(answer.status, 200, answer.text)
    }))

  it.effect("a lie at login disconnects the session until a truthful login, with the same credentials", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const liar = yield* Lying
      const { simulator: { controls } } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const sessions = yield* Effect.forEach([1, 2, 3, 4], () => pairedSession(node, account.key), { concurrency: 4 })
      liar.queue(...Object.values(atLogin))
      for (const { device } of sessions) controls.dropConnection(device)
      const lost = { reason: "connection_lost", reconnecting: true }
      for (const { id, number } of sessions) {
        const events = yield* account.published(id, 3)
        assert.deepStrictEqual(events.map(({ data, event }) => ({ event, data })), [
          { event: "session.connected", data: { session_id: id, phone_number: `+${number}` } },
          { event: "session.disconnected", data: { session_id: id, ...lost } },
          { event: "session.connected", data: { session_id: id, phone_number: `+${number}` } }
        ])
        yield* untilStatus(node, account.key, id, "connected")
      }
      assert.strictEqual(liar.remaining, 0)
    }))
})
