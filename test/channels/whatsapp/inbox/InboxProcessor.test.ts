import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ContactsRepo } from "../../../../src/channels/whatsapp/directory/ContactsRepo.ts"
import { GroupsRepo } from "../../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import { Inbox } from "../../../../src/channels/whatsapp/inbox/Inbox.ts"
import * as InboxProcessor from "../../../../src/channels/whatsapp/inbox/InboxProcessor.ts"
import { InboxRepo } from "../../../../src/channels/whatsapp/inbox/InboxRepo.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { eventually } from "../../../support/Service.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"

const Subject = Layer.mergeAll(Inbox.layer, InboxRepo.layer, ContactsRepo.layer, GroupsRepo.layer).pipe(
  Layer.provideMerge([noEvents, Vault.layer(Redacted.make(new Uint8Array(32)))]),
  Layer.provideMerge(TestDatabase.layer)
)

const ada = { lid: "1@lid", phone: "15550100300", name: "Ada", isNamed: true }

/** The processor of a connection of a new session, and the names of the session's contacts. */
const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const start = yield* InboxProcessor.make
  const { id } = yield* makeSessionRow(true)
  yield* sql`update whatsapp_sessions set epoch = 1 where id = ${id}`
  const names = Effect.map(
    sql`select name from whatsapp_contacts where session_id = ${id}`,
    (rows) => rows.map((row) => row["name"])
  )
  return { names, start: start({ owned: { id, epoch: 1 }, dataKey: new Uint8Array(32), socket: () => undefined }) }
})

layer(Subject)("InboxProcessor", (it) => {
  it.effect("stores the people that the connection reported last when it ends", () =>
    Effect.gen(function*() {
      const { names, start } = yield* scene
      yield* Effect.scoped(Effect.map(start, ({ learn }) => learn([ada])))
      assert.deepStrictEqual(yield* names, ["Ada"])
    }))

  it.effect("stores the people whose write the end of the connection interrupts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { names, start } = yield* scene
      const waiting = sql`select from pg_locks where not granted and relation = 'whatsapp_contacts'::regclass`
      yield* Effect.scoped(Effect.gen(function*() {
        const { learn } = yield* start
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`lock table whatsapp_contacts in share mode`
          learn([ada])
          yield* eventually(waiting, ({ length }) => length === 1)
        }))
      }))
      assert.deepStrictEqual(yield* names, ["Ada"])
    }))
})
