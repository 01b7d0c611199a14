import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { StateStorage } from "../../../../src/sandbox/whatsapp/model/SimulatorState.ts"
import { WhatsAppSimulator } from "../../../../src/sandbox/whatsapp/WhatsAppSimulator.ts"
import { readUntil } from "../../../support/readUntil.ts"
import { ann, bob, jid, makeSimulator, memory, online, session } from "../../../support/simulatedSession.ts"

const restarted = (storage: StateStorage) =>
  Effect.acquireRelease(
    Effect.promise(() => WhatsAppSimulator.start({ now: () => Date.now(), storage })),
    (simulator) => Effect.promise(() => simulator.stop())
  )

describe("stored state of the simulated WhatsApp", () => {
  it.live("after a restart a session logs in without a QR code, and Signal sessions and groups continue", () =>
    Effect.gen(function*() {
      const storage = memory()
      const auth = yield* Effect.scoped(Effect.gen(function*() {
        const simulator = yield* makeSimulator({ storage })
        const { auth, client } = yield* session(simulator, ann)
        yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "before" }))
        yield* Effect.promise(() => client.until(() => client.receipts.length === 2))
        yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "before too" }))
        yield* Effect.promise(() => client.until(() => client.texts.length === 1))
        const group = simulator.controls.createGroup(bob, "Team", [ann])
        yield* Effect.promise(() => simulator.controls.sendText(bob, group.id, { text: "group before" }))
        yield* Effect.promise(() => client.until(() => client.texts.length === 2))
        yield* readUntil(() => simulator.controls.sessions()[0]?.waiting, (waiting) => waiting === 0)
        return auth
      }))

      const simulator = yield* restarted(storage)
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "meanwhile" }))
      const client = yield* online(simulator, auth)
      assert.isTrue(client.isOpen)
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "after" }))
      const [group] = simulator.controls.groups()
      yield* Effect.promise(() => simulator.controls.sendText(bob, group?.id ?? "", { text: "group after" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 2))
      assert.sameMembers([...client.texts], ["meanwhile", "group after"])
      const texts = () => simulator.controls.messages(bob, ann).map(({ text }) => text)
      yield* readUntil(texts, ({ length }) => length === 4)
      assert.deepStrictEqual(texts(), ["before", "before too", "meanwhile", "after"])
      assert.strictEqual(simulator.controls.counters().phones[bob]?.retriesAnswered, 0)
      assert.strictEqual(simulator.controls.sessions()[0]?.logins, 2)
    }))

  it.live("messages for a disconnected session arrive after a restart, in order", () =>
    Effect.gen(function*() {
      const storage = memory()
      const texts = ["one", "two", "three"]
      const auth = yield* Effect.scoped(Effect.gen(function*() {
        const simulator = yield* makeSimulator({ storage })
        const { auth, client, session: name } = yield* session(simulator, ann)
        simulator.controls.dropConnection(name)
        yield* Effect.promise(() => client.until(() => client.closeCode !== undefined))
        for (const text of texts) yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text }))
        return auth
      }))
      const client = yield* online(yield* restarted(storage), auth)
      yield* Effect.promise(() => client.until(() => client.texts.length === texts.length))
      assert.deepStrictEqual(client.texts, texts)
    }))

  it.live("a failed write is repeated with the next changes", () =>
    Effect.gen(function*() {
      const storage = memory()
      let failures = 1
      const failing: StateStorage = {
        load: storage.load,
        save: (changes) => failures-- > 0 ? Promise.reject(new Error("no database")) : storage.save(changes)
      }
      const simulator = yield* makeSimulator({ storage: failing })
      yield* readUntil(() => storage.entries.get(`phone/${ann}`), (json) => json !== undefined)
      simulator.controls.createPhone(ann, "Anna")
      yield* readUntil(() => storage.entries.get(`phone/${ann}`) ?? "", (json) => json.includes("Anna"))
    }))
})
