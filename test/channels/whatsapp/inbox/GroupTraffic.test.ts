import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeGroupsRepo } from "../../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import { makeGroupTraffic } from "../../../../src/channels/whatsapp/inbox/GroupTraffic.ts"
import { Inbox } from "../../../../src/channels/whatsapp/inbox/Inbox.ts"
import { type GroupFacts, GroupRefused } from "../../../../src/channels/whatsapp/socket/DirectorySocket.ts"
import type { SessionSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { SocketFailed } from "../../../../src/channels/whatsapp/wire/SocketFailed.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { unaskedSocket } from "../../../support/unaskedSocket.ts"

const groupOf = (jid: string): GroupFacts => ({
  jid,
  name: jid,
  description: null,
  addressing: "pn",
  ephemeralSeconds: null,
  members: [{ jid: "15550000001@s.whatsapp.net", phone: "15550000001", role: "member" }]
})

const known = ["1@g.us", "2@g.us", "3@g.us"]

/** The groups of a session that has known three, after a connection on which WhatsApp's list is empty. */
const afterAnEmptyList = Effect.fnUntraced(function*(group: SessionSocket["group"]) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key, epoch)
    values (${accountId}, ${`wa_${accountId}`}, 'Test', '', 1) returning id`
  const id = WhatsAppSessionId.make(Number(row?.["id"]))
  const repo = yield* makeGroupsRepo
  yield* Effect.forEach(known, (jid) => repo.store(id, groupOf(jid), 0))
  const asked: Array<string> = []
  const socket: SessionSocket = {
    ...unaskedSocket,
    groups: Effect.succeed([]),
    group: (jid) => {
      asked.push(jid)
      return group(jid)
    }
  }
  const start = yield* makeGroupTraffic
  const traffic = yield* start({
    owned: { id, epoch: 1 },
    dataKey: new Uint8Array(32),
    socket: () => socket,
    hear: () => {}
  })
  yield* traffic.onOpened
  return { asked, left: Effect.map(repo.jids(id), (rows) => rows.map(({ jid }) => jid).toSorted()) }
})

const Nothing = Layer.succeed(Inbox, Inbox.of({ add: () => Effect.void, attend: () => Effect.void }))

layer(Layer.provideMerge(Nothing, TestDatabase.layer))("groups that are missing in WhatsApp's list", (it) => {
  it.effect("are asked for by themselves, and left when WhatsApp says that the session is not in them", () =>
    Effect.scoped(Effect.gen(function*() {
      const { left } = yield* afterAnEmptyList((jid) =>
        jid === "2@g.us" ? Effect.fail(new GroupRefused({})) : Effect.succeed(groupOf(jid))
      )
      yield* eventually(left, ({ length }) => length < 3)
      assert.deepStrictEqual(yield* left, ["1@g.us", "3@g.us"])
    })))

  it.effect("stay when WhatsApp gives no answer, and it is not asked for the others", () =>
    Effect.scoped(Effect.gen(function*() {
      const { asked, left } = yield* afterAnEmptyList(() => Effect.fail(new SocketFailed({ reason: "no answer" })))
      yield* eventually(Effect.sync(() => asked), ({ length }) => length > 0)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* left, known)
      assert.lengthOf(asked, 1)
    })))
})
