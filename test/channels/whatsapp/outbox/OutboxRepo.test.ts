import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OutboxRepo } from "../../../../src/channels/whatsapp/outbox/OutboxRepo.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { plansOf, rowsRead } from "../../../support/plans.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const Subject = OutboxRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer))

/** A session of its own account. */
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
    insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, pairing)
    select id, ${id}::bigint, 'NAME' || id, 0, ${status}, 1 from added`
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
})
