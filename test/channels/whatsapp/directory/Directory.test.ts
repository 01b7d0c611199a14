import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { Directory } from "../../../../src/channels/whatsapp/directory/Directory.ts"
import { DirectoryEntity } from "../../../../src/channels/whatsapp/directory/DirectoryEntity.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { eventually } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const begun: Array<string> = []

/** An actor that ends checks as a move to another node does, and answers nothing else. */
const Moving = DirectoryEntity.toLayer({
  Check: () => Effect.interrupt,
  CreateGroup: ({ payload: { name } }) => Effect.andThen(Effect.sync(() => void begun.push(name)), Effect.never),
  ChangeGroup: () => Effect.never,
  Invite: () => Effect.never
}, { concurrency: "unbounded", mailboxCapacity: 1 })

const Subject = Directory.layer.pipe(
  Layer.provideMerge(Moving.pipe(Layer.provideMerge(TestRunner.layer))),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject, { excludeTestServices: true })("Directory", (it) => {
  it.effect("answers as unavailable while the actor moves to another node", () =>
    Effect.gen(function*() {
      const { check } = yield* Directory
      assert.deepStrictEqual(yield* check(WhatsAppSessionId.make(1), "15550100300"), { _tag: "Unavailable" })
    }))

  it.effect("answers as unavailable while the actor has too many requests", () =>
    Effect.gen(function*() {
      const { createGroup, inviteCode } = yield* Directory
      const id = WhatsAppSessionId.make(2)
      const first = yield* Effect.forkChild(createGroup(id, { name: "Team", description: null, numbers: [] }))
      yield* eventually(Effect.sync(() => begun), ({ length }) => length === 1)
      assert.deepStrictEqual(yield* inviteCode(id, "1@g.us"), { _tag: "Unavailable" })
      yield* Fiber.interrupt(first)
    }))
})
