import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SandboxWhatsAppRepo } from "../../../src/sandbox/whatsapp/SandboxWhatsAppRepo.ts"
import { SimulatedWhatsApp } from "../../../src/sandbox/whatsapp/SimulatedWhatsApp.ts"
import { startSimulator } from "../../../src/sandbox/whatsapp/SimulatorHost.ts"
import { connected } from "../../support/baileysClient.ts"
import { makeRawServer } from "../../support/RawServer.ts"
import { ann, bob, jid, session } from "../../support/simulatedSession.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const sandbox = Layer.merge(SimulatedWhatsApp.layer, SandboxWhatsAppRepo.layer)

/** A host that has announced its port to the other nodes, until the scope ends. */
const host = Effect.gen(function*() {
  const simulator = yield* startSimulator
  yield* Effect.flatMap(SandboxWhatsAppRepo, ({ announce }) => announce(simulator.port))
  return simulator
})

layer(TestDatabase.layer, { excludeTestServices: true })("simulated WhatsApp of the sandbox", (it) => {
  describe("shared state in the database", () => {
    it.effect("another node controls phones over HTTP, and all state survives a change of the host", () =>
      Effect.gen(function*() {
        const nodes = yield* Layer.build(sandbox)
        const repo = Context.get(nodes, SandboxWhatsAppRepo)
        const { address, control } = Context.get(nodes, SimulatedWhatsApp)
        const asHost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provideService(effect, SandboxWhatsAppRepo, repo)
        const auth = yield* Effect.scoped(asHost(Effect.gen(function*() {
          const simulator = yield* host
          yield* control("createPhone", ann, "Ann")
          const { auth, client } = yield* session(simulator, ann)
          yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "hello" }))
          yield* Effect.promise(() => client.until(() => client.receipts.length === 2))
          const messages = yield* control("messages", bob)
          assert.deepStrictEqual(messages.map(({ from, text }) => [from, text]), [[ann, "hello"]])
          assert.deepStrictEqual((yield* control("phones")).map(({ pushName }) => pushName), ["Ann", `+${bob}`])
          return auth
        })))

        yield* asHost(host)
        const client = yield* Effect.acquireRelease(
          Effect.flatMap(address, ({ url }) => Effect.promise(() => connected(auth, { url }))),
          (open) => Effect.sync(() => open.end())
        )
        assert.isTrue(client.isOpen)
        assert.deepStrictEqual((yield* control("messages", bob)).map(({ text }) => text), ["hello"])
        const refusal = yield* Effect.flip(control("messages", "15559990000"))
        assert.strictEqual(refusal.reason, "No phone has the number 15559990000")
      }))

    it.effect("a call ends with a reason if another program has the port of a host that was killed", () =>
      Effect.gen(function*() {
        const nodes = yield* Layer.build(sandbox)
        const other = yield* makeRawServer(() => {})
        yield* Context.get(nodes, SandboxWhatsAppRepo).announce(Number(new URL(other.url).port))
        const refusal = yield* Effect.flip(Context.get(nodes, SimulatedWhatsApp).control("phones"))
        assert.include(refusal.reason, "try again")
      }))
  })
})
