import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { MessageType } from "../../../../src/channels/whatsapp/content/MessageContent.ts"
import { AcceptedRepo, type NewRow } from "../../../../src/channels/whatsapp/outbox/MessageAcceptance.ts"
import { OutboxRepo } from "../../../../src/channels/whatsapp/outbox/OutboxRepo.ts"
import { MessageId, WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { plansOf, rowsRead } from "../../../support/plans.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"

const Subject = Layer.mergeAll(OutboxRepo.layer, AcceptedRepo.layer.pipe(Layer.provide(noEvents))).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

/** A session of a new account. */
const makeSession = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key, epoch)
    values (${accountId}, ${`wa_${accountId}`}, 'Test', '', 1) returning id`
  return { accountId, id: WhatsAppSessionId.make(Number(row?.["id"])) }
})

/** Adds texts with this status to the outbox of a session. */
const addTexts = Effect.fnUntraced(function*(
  { accountId, id }: Effect.Success<typeof makeSession>,
  status: string,
  count: number
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`with added as (
      insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
      select ${accountId}::bigint, 'whatsapp', ${id}::bigint, 'out', '+15550100300', 'text', '{"body": "Hello"}', 'queued'
      from generate_series(1, ${count}::integer) returning id
    )
    insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, needs_file)
    select id, ${id}::bigint, 'NAME' || id, 0, ${status}, false from added`
})

/** A message that a session accepts. */
const messageOf =
  ({ accountId, id: sessionId }: Effect.Success<typeof makeSession>) =>
  (type: MessageType, whatsappId: string): NewRow => ({
    accountId,
    sessionId,
    pairing: 1,
    sender: null,
    to: "+15550100300",
    type,
    content: { body: "Hello" },
    whatsappId,
    fileId: null,
    batchId: null,
    delayMs: 0,
    codeSeed: null,
    sending: { sendAt: null, acceptedBy: null, tags: [], metadata: {}, failover_id: null }
  })

layer(Subject)("OutboxRepo", (it) => {
  it.effect("finds what no session will send without reading the messages that were sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { unsendable } = yield* OutboxRepo
      const session = yield* makeSession
      yield* addTexts(session, "sent", 10_000)
      yield* addTexts(session, "queued", 2)
      yield* addTexts(session, "written", 1)
      yield* sql`update whatsapp_sessions set pairing = 2 where id = ${session.id}`
      yield* sql`analyze whatsapp_outbox`
      const [plan = ""] = yield* plansOf(unsendable(200), "whatsapp_outbox")
      assert.isBelow(rowsRead(plan), 20, plan)
      const found = yield* unsendable(200)
      assert.deepStrictEqual(found.map(({ is_gone, session_id }) => [is_gone, session_id]), [
        [false, session.id],
        [false, session.id],
        [false, session.id]
      ])
    }))

  it.effect("finds the files to upload without reading the texts that wait", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { nextFiles, storePrepared } = yield* OutboxRepo
      const { insert } = yield* AcceptedRepo
      const session = yield* makeSession
      const sessionId = session.id
      const message = messageOf(session)
      yield* insert(Array.from({ length: 5000 }, (_, index) => message("text", `TEXT${index}`)))
      const [, image] = yield* insert([message("video", "A"), message("image", "B")])
      yield* sql`analyze whatsapp_outbox, messages`
      const due = { sessionId, limit: 3 }
      const names = Effect.map(nextFiles(due), (rows) => rows.map(({ whatsapp_id }) => whatsapp_id))
      const [plan = ""] = yield* plansOf(nextFiles(due), "whatsapp_outbox")
      assert.isBelow(rowsRead(plan), 20, plan)
      assert.deepStrictEqual(yield* names, ["A", "B"])
      const prepared = { message_id: image?.id ?? MessageId.make(1), chat: "a@s.whatsapp.net", body: new Uint8Array(1) }
      yield* storePrepared({ id: sessionId, epoch: 1 }, prepared)
      assert.deepStrictEqual(yield* names, ["A"])
      const waiting = yield* sql`select whatsapp_id from whatsapp_outbox where status = 'queued' and needs_file`
      assert.deepStrictEqual(waiting.map((row) => row["whatsapp_id"]), ["A"])
      // As in a row of an earlier version.
      yield* sql`update whatsapp_outbox set needs_file = true where whatsapp_id = 'TEXT0'`
      assert.deepStrictEqual(yield* names, ["A"])
    }))
})
