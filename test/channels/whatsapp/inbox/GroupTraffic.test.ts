import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { GroupsRepo } from "../../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import * as GroupTraffic from "../../../../src/channels/whatsapp/inbox/GroupTraffic.ts"
import { Inbox } from "../../../../src/channels/whatsapp/inbox/Inbox.ts"
import { InboxRepo } from "../../../../src/channels/whatsapp/inbox/InboxRepo.ts"
import type { GroupFacts } from "../../../../src/channels/whatsapp/socket/DirectorySocket.ts"
import { GroupRefused, SocketFailed } from "../../../../src/channels/whatsapp/socket/SocketErrors.ts"
import type { SessionSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import type { Stanza } from "../../../../src/channels/whatsapp/wire/Stanza.ts"
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

/** Opens a connection with this list of groups, for a session with three stored groups. */
const afterAList = Effect.fnUntraced(function*(groups: ReadonlyArray<GroupFacts>, group: SessionSocket["group"]) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key, epoch)
    values (${accountId}, ${`wa_${accountId}`}, 'Test', '', 1) returning id`
  const id = WhatsAppSessionId.make(Number(row?.["id"]))
  const repo = yield* GroupsRepo
  yield* Effect.forEach(known, (jid) => repo.store(id, groupOf(jid), 0))
  const asked: Array<string> = []
  const socket: SessionSocket = {
    ...unaskedSocket,
    groups: Effect.succeed(groups),
    group: (jid) => {
      asked.push(jid)
      return group(jid)
    }
  }
  const start = yield* GroupTraffic.make
  const traffic = yield* start({
    owned: { id, epoch: 1 },
    dataKey: new Uint8Array(32),
    socket: () => socket,
    learn: () => {}
  })
  yield* traffic.onOpened
  return { asked, id, traffic, left: Effect.map(repo.jids(id), (rows) => rows.map(({ jid }) => jid).toSorted()) }
})

const afterAnEmptyList = (group: SessionSocket["group"]) => afterAList([], group)

/** The notification that a group has a new member. */
const added = (jid: string, id: string): Stanza => ({
  tag: "notification",
  attrs: { from: jid, id, type: "w:gp2" },
  content: [{ tag: "add", attrs: {}, content: [{ tag: "participant", attrs: { jid: "15550000002@s.whatsapp.net" } }] }]
})

const namesInInbox = Effect.fnUntraced(function*(id: WhatsAppSessionId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select whatsapp_id from whatsapp_inbox where session_id = ${id} order by id`
  return rows.map((row) => row["whatsapp_id"])
})

const Subject = Layer.mergeAll(Inbox.layer, InboxRepo.layer, GroupsRepo.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject)("GroupTraffic, with a group that the database refuses", (it) => {
  it.effect("stores the groups that follow it in WhatsApp's list", () =>
    Effect.scoped(Effect.gen(function*() {
      const listed = [{ ...groupOf("4@g.us"), name: "a\u0000b" }, groupOf("5@g.us")]
      const { left } = yield* afterAList(listed, (jid) => Effect.succeed(groupOf(jid)))
      yield* eventually(left, (jids) => jids.includes("5@g.us"))
      assert.deepStrictEqual(yield* left, [...known, "5@g.us"])
    })))
})

layer(Subject)("GroupTraffic, with groups missing from WhatsApp's list", (it) => {
  it.effect("requests each missing group and marks it as left if WhatsApp refuses it", () =>
    Effect.scoped(Effect.gen(function*() {
      const { left } = yield* afterAnEmptyList((jid) =>
        jid === "2@g.us" ? Effect.fail(new GroupRefused({})) : Effect.succeed(groupOf(jid))
      )
      yield* eventually(left, ({ length }) => length < 3)
      assert.deepStrictEqual(yield* left, ["1@g.us", "3@g.us"])
    })))

  it.effect("keeps all groups and stops requesting when WhatsApp does not answer", () =>
    Effect.scoped(Effect.gen(function*() {
      const { asked, left } = yield* afterAnEmptyList(() => Effect.fail(new SocketFailed({ reason: "no answer" })))
      yield* eventually(Effect.sync(() => asked), ({ length }) => length > 0)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* left, known)
      assert.lengthOf(asked, 1)
    })))
})

layer(Subject)("GroupTraffic, with changes of members while WhatsApp does not answer", (it) => {
  it.effect("stores each change without waiting for the answer about an earlier one", () =>
    Effect.scoped(Effect.gen(function*() {
      const { asked, id, traffic } = yield* afterAList([], () => Effect.never)
      yield* eventually(Effect.sync(() => asked), ({ length }) => length === 1)
      traffic.onNotification(added("1@g.us", "a"))
      yield* eventually(Effect.sync(() => asked), ({ length }) => length === 2)
      traffic.onNotification(added("2@g.us", "b"))
      traffic.onNotification(added("1@g.us", "c"))
      yield* eventually(namesInInbox(id), ({ length }) => length === 3)
      assert.deepStrictEqual(yield* namesInInbox(id), ["add/a", "add/b", "add/c"])
    })))

  it.effect("stores the changes that wait when the connection ends", () =>
    Effect.gen(function*() {
      const id = yield* Effect.scoped(Effect.gen(function*() {
        const { id, traffic } = yield* afterAList([], () => Effect.never)
        traffic.onNotification(added("1@g.us", "a"))
        traffic.onNotification(added("2@g.us", "b"))
        return id
      }))
      assert.deepStrictEqual(yield* namesInInbox(id), ["add/a", "add/b"])
    }))
})
