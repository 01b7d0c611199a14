import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { schedule } from "../../../support/scheduled.ts"
import { eventually, makeAccount, Service } from "../../../support/Service.ts"
import { freshNumber, sendSms, smsReaching } from "../../../support/sms.ts"

layer(Service.layer(), { excludeTestServices: true })("SmsSender", (it) => {
  it.effect("ends the message of a part that it gives up, even if the database refuses that at first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const node = yield* Service
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      // A sequence counts also in transactions that roll back.
      yield* sql`create sequence refusals`
      yield* sql`update messages set status = 'queued' where id = ${id}`
      yield* sql`create function refuse() returns trigger language plpgsql as
        'begin perform nextval(''refusals''); raise exception ''full'' using errcode = ''53100''; end'`
      yield* sql`create trigger refuse before update on messages for each row execute function refuse()`
      yield* sql`update sms_parts set status = 'sending', doubts = 1, completed_at = null,
        due_at = now() - interval '1 minute' where message_id = ${id}`
      yield* eventually(sql`select is_called from refusals`, ([row]) => row?.["is_called"] === true)
      yield* sql`drop trigger refuse on messages`
      const message = yield* smsReaching(node, { id, key, statuses: ["failed"] })
      assert.deepInclude(message, { status: "failed" })
    }))

  it.effect("sends the texts that it claims together with one to a number that is no longer possible", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const node = yield* Service
      const bad = yield* makeAccount()
      const good = yield* makeAccount()
      const later = ({ key }: typeof good) =>
        Effect.map(
          schedule(node, { key, path: "/v1/sms/send", body: { to: freshNumber(), content: "Hello" } }),
          ({ at }) => Number(at("data", "message_id"))
        )
      const ids = [yield* later(bad), yield* later(good)] as const
      yield* sql`update messages set recipient = '+1' where id = ${ids[0]}`
      yield* sql`update messages set send_at = now() where id in ${sql.in(ids)}`
      yield* smsReaching(node, { id: ids[1], key: good.key, statuses: ["delivered"] })
      assert.deepStrictEqual(
        yield* sql`select doubts::int from sms_parts where message_id = ${ids[1]}`,
        [{ doubts: 0 }]
      )
      const statistics = yield* node.request("GET", "/v1/sms/statistics", { key: bad.key })
      assert.strictEqual(statistics.status, 200, statistics.text)
      assert.deepInclude(statistics.at("data", "by_country", 0), { country: null })
    }))
})
