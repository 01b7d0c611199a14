import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { InboxRepo } from "../../../../src/channels/whatsapp/inbox/InboxRepo.ts"
import { AllMessages } from "../../../../src/history/AllMessages.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { AccountId, WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const Subject = Layer.mergeAll(
  InboxRepo.layer,
  AllMessages.layer,
  Vault.layer(Redacted.make(new Uint8Array(32)))
).pipe(Layer.provideMerge(TestDatabase.layer))

const received = { sender: "+15550100301", recipient: "+15550100300", type: "text", content: "{}", sent_at: null }

layer(Subject, { excludeTestServices: true })("InboxRepo", (it) => {
  it.effect("a received message is listed in the time of its created_at, also if it waited for hours", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { storeMessages } = yield* InboxRepo
      const { list } = yield* AllMessages
      const { id } = yield* makeSessionRow(true)
      const [session] = yield* sql`select account_id from whatsapp_sessions where id = ${id}`
      const accountId = AccountId.make(Number(session?.["account_id"]))
      const rows = yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id, received_at)
        values (${id}, 'message', '1@lid', 'OLD', now() - interval '3 hours'),
          (${id}, 'message', '1@lid', 'NEW', now() + interval '20 seconds') returning id`
      yield* sql`insert into retention_marks (at, email_messages, messages)
        select now() - n * interval '1 hour', 0, 0 from generate_series(1, 2) n`
      const stored = yield* storeMessages({
        accountId,
        sessionId: WhatsAppSessionId.make(id),
        rows: rows.map((row) => ({ id: Number(row["id"]), ...received, keeps_payload: false }))
      })
      assert.lengthOf(stored, 2)
      const times = yield* sql`select m.id, to_json(created_at) as from_date,
          to_json(created_at + interval '1 millisecond') as to_date, created_at = received_at as came_in_then
        from messages m join whatsapp_inbox i on i.message_id = m.id order by m.id`
      for (const { from_date, id, to_date } of times) {
        const filter = { tags: [], metadata: {}, from_date: String(from_date), to_date: String(to_date) }
        const page = yield* list({ accountId, channels: new Set(["whatsapp"] as const) }, filter, {
          limit: 5,
          offset: 0,
          after: null
        })
        assert.deepStrictEqual(page.map(({ summary }) => summary.id), [id])
      }
      assert.deepStrictEqual(times.map(({ came_in_then }) => came_in_then), [false, true])
    }))
})
