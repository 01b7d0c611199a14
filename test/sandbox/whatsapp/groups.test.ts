import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readUntil } from "../../support/readUntil.ts"
import { ann, bob, cid, jid, makeSimulator, session } from "../../support/simulatedSession.ts"

describe("groups of the simulated WhatsApp", () => {
  it.live("a session creates a group, and every member decrypts its messages", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { controls } = simulator
      const { client } = yield* session(simulator, ann)
      const group = yield* Effect.promise(() => client.socket.groupCreate("Friends", [jid(bob), jid(cid)]))
      assert.strictEqual(group.subject, "Friends")
      assert.deepStrictEqual(group.participants.map(({ phoneNumber }) => phoneNumber), [jid(ann), jid(bob), jid(cid)])
      yield* Effect.promise(() => client.socket.sendMessage(group.id, { text: "hello all" }))
      yield* Effect.promise(() => client.socket.sendMessage(group.id, { text: "hello again" }))
      for (const number of [ann, bob, cid]) {
        const texts = () => controls.messages(number, group.id).map(({ text }) => text)
        yield* readUntil(texts, (found) => found.length === 2)
        assert.deepStrictEqual(texts(), ["hello all", "hello again"])
      }
      assert.deepStrictEqual(controls.counters().phones[bob]?.decryptFailures, 0)
    }))

  it.live("a session decrypts messages that phones write to a group", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const group = simulator.controls.createGroup(bob, "Team", [ann, cid])
      yield* Effect.promise(() => simulator.controls.sendText(bob, group.id, { text: "from Bob" }))
      yield* Effect.promise(() => simulator.controls.sendText(bob, group.id, { text: "again" }))
      yield* Effect.promise(() => simulator.controls.sendText(cid, group.id, { text: "from Cid" }))
      yield* Effect.promise(() => client.until(() => client.texts.length === 3))
      assert.deepStrictEqual(client.texts, ["from Bob", "again", "from Cid"])
      const [key] = client.received.filter(({ message }) => message?.conversation === "from Cid").map(({ key }) => key)
      assert.strictEqual(key?.remoteJid, group.id)
      assert.match(key?.participant ?? "", /@lid$/)
      assert.strictEqual(key?.participantAlt, jid(cid))
    }))

  it.live("members are added, promoted, demoted and removed, and the session is notified", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { controls } = simulator
      const { client } = yield* session(simulator, ann)
      const group = controls.createGroup(bob, "Team", [ann])
      controls.changeGroup(group.id, bob, { action: "add", numbers: [cid] })
      controls.changeGroup(group.id, bob, { action: "promote", numbers: [ann] })
      controls.changeGroup(group.id, bob, { action: "demote", numbers: [ann] })
      controls.changeGroup(group.id, bob, { action: "remove", numbers: [cid] })
      yield* Effect.promise(() => client.until(() => client.groupChanges.length === 4))
      assert.deepStrictEqual(
        client.groupChanges.map((
          { action, participants }
        ) => [action, participants.map(({ phoneNumber }) => phoneNumber)]),
        [["add", [jid(cid)]], ["promote", [jid(ann)]], ["demote", [jid(ann)]], ["remove", [jid(cid)]]]
      )
      const metadata = yield* Effect.promise(() => client.socket.groupMetadata(group.id))
      assert.deepStrictEqual(metadata.participants.map(({ phoneNumber }) => phoneNumber), [jid(bob), jid(ann)])
    }))

  it.live("a session that is an admin changes members, and one that is not is refused", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { controls } = simulator
      const { client } = yield* session(simulator, ann)
      const own = yield* Effect.promise(() => client.socket.groupCreate("Mine", [jid(bob)]))
      const added = yield* Effect.promise(() =>
        client.socket.groupParticipantsUpdate(own.id, [jid(cid), jid("15559999999")], "add")
      )
      assert.deepStrictEqual(added.map(({ status }) => status), ["200", "404"])
      yield* Effect.promise(() => client.socket.groupUpdateSubject(own.id, "Ours"))
      yield* Effect.promise(() => client.socket.groupParticipantsUpdate(own.id, [jid(bob)], "remove"))
      const [group] = controls.groups()
      assert.strictEqual(group?.subject, "Ours")
      assert.deepStrictEqual(group?.members.map(({ number }) => number), [ann, cid])
      const foreign = controls.createGroup(bob, "Bob's", [ann])
      const refused = yield* Effect.promise(() =>
        client.socket.groupParticipantsUpdate(foreign.id, [jid(cid)], "add").then(() => "done", () => "refused")
      )
      assert.strictEqual(refused, "refused")
      const all = yield* Effect.promise(() => client.socket.groupFetchAllParticipating())
      assert.deepStrictEqual(Object.values(all).map(({ subject }) => subject).toSorted(), ["Bob's", "Ours"])
    }))

  it.live("an invite link leads into the group", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const group = simulator.controls.createGroup(bob, "Open", [])
      const joined = yield* Effect.promise(() => client.socket.groupAcceptInvite(group.inviteCode))
      assert.strictEqual(joined, group.id)
      assert.strictEqual(yield* Effect.promise(() => client.socket.groupInviteCode(group.id)), group.inviteCode)
    }))
})
