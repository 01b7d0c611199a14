import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { GroupsRepo } from "../../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import type { GroupFacts } from "../../../../src/channels/whatsapp/socket/DirectorySocket.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const jid = "120363000000000001@g.us"

const called = (name: string, ...phones: ReadonlyArray<string>): GroupFacts => ({
  jid,
  name,
  description: null,
  addressing: "pn",
  ephemeralSeconds: null,
  members: phones.map((phone) => ({ jid: `${phone}@s.whatsapp.net`, phone, role: "member" }))
})

const makeSession = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key)
    values (${accountId}, ${`wa_${accountId}`}, 'Test', '') returning id`
  return WhatsAppSessionId.make(Number(row?.["id"]))
})

/** Waits until later answers are newer by more than the rounding of a millisecond clock. */
const aMoment = Effect.flatMap(
  Clock.currentTimeMillis,
  (from) => Effect.repeat(Clock.currentTimeMillis, { until: (now) => now > from + 1 })
)

layer(GroupsRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "GroupsRepo",
  (it) => {
    it.effect("keeps the newest answer about a group, in whatever order answers are stored", () =>
      Effect.gen(function*() {
        const repo = yield* GroupsRepo
        const sessionId = yield* makeSession
        const known = Effect.map(repo.cached({ sessionId, jid }), Option.getOrThrow)
        const at = yield* Clock.currentTimeMillis
        yield* repo.store(sessionId, called("New", "15550000001", "15550000002"), at)
        const before = yield* known
        yield* repo.store(sessionId, called("Old", "15550000003"), at - 60_000)
        assert.deepStrictEqual(yield* known, before)
        yield* aMoment
        yield* repo.store(sessionId, called("Newer", "15550000003"), yield* Clock.currentTimeMillis)
        assert.deepStrictEqual(yield* known, {
          jid,
          name: "Newer",
          addressing: "pn",
          ephemeral_seconds: null,
          members: [{ jid: "15550000003@s.whatsapp.net", role: "member" }]
        })
      }))

    it.effect("keeps a group that was left away when an earlier answer arrives, and brings it back by a later one", () =>
      Effect.gen(function*() {
        const repo = yield* GroupsRepo
        const sessionId = yield* makeSession
        const isMember = Effect.map(repo.jids(sessionId), ({ length }) => length === 1)
        const at = yield* Clock.currentTimeMillis
        yield* repo.store(sessionId, called("Team", "15550000001"), at - 120_000)
        const [{ id } = assert.fail("was not stored")] = yield* repo.jids(sessionId)
        yield* repo.leave([id], at)
        yield* repo.store(sessionId, called("Team", "15550000001"), at - 60_000)
        assert.isFalse(yield* isMember)
        yield* aMoment
        yield* repo.store(sessionId, called("Team", "15550000001"), yield* Clock.currentTimeMillis)
        yield* repo.leave([id], at - 60_000)
        assert.isTrue(yield* isMember)
      }))

    it.effect("keeps the newest answer even if an earlier node's clock was fast", () =>
      Effect.gen(function*() {
        const repo = yield* GroupsRepo
        const sessionId = yield* makeSession
        const ask = (name: string) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => repo.store(sessionId, called(name, "15550000001"), at))
        yield* Effect.andThen(TestClock.adjust("50000 days"), ask("Before")).pipe(Effect.provide(TestClock.layer()))
        yield* aMoment
        yield* ask("Now")
        const known = yield* repo.cached({ sessionId, jid })
        assert.strictEqual(Option.getOrThrow(known).name, "Now")
      }))
  }
)
