import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount } from "../support/whatsAppEvents.ts"
import { accepted, unpaced, untilMessage } from "../support/whatsAppMessages.ts"
import { rounds } from "./inTime.ts"
import {
  checkPhones,
  checkPublished,
  noTroubles,
  settled,
  textsOf,
  troubles,
  writing,
  type Written
} from "./whatsAppPeople.ts"

/** Inbound messages of a round: each takes twice as long as an outbound one, with a transaction each. */
const into = rounds > 1 ? 150 : 75
const out = 2 * into

/** How many messages of each direction were processed while the other direction was busy. */
const atOnce = Effect.fnUntraced(function*(session: number, name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`with went as (
      select sent_at as at from messages
      where session_id = ${session} and direction = 'out' and content ->> 'body' like ${`out-${name}-%`}
    ), came as (
      select created_at as at from messages
      where session_id = ${session} and direction = 'in' and content ->> 'body' like ${`in-${name}-%`}
    )
    select (select count(*) from went where at between (select min(at) from came) and (select max(at) from came)) as went,
      (select count(*) from came where at between (select min(at) from went) and (select max(at) from went)) as came`
  return { went: Number(row?.["went"]), came: Number(row?.["came"]) }
})

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), { excludeTestServices: true, timeout: "10 minutes" })(
  "WhatsApp ratchets over a slow database",
  (it) => {
    it.effect(
      `with answers after 2 to 10 ms, ${out} messages out and ${into} in at once all decrypt at the first attempt`,
      () =>
        Effect.gen(function*() {
          const { env, phone } = yield* WhatsApp
          const { url } = yield* makeDatabaseProxy({ least: 2, most: 10 })
          const node = yield* startNode({ env: { ...env, ...unpaced, DATABASE_URL: url } })
          const account = yield* inboundAccount(node)
          const { key } = account
          const session = yield* pairedSession(node, key)
          const phones = [yield* phone, yield* phone, yield* phone]
          const all: Array<Written> = phones.map((from) => ({ from, text: "hello" }))
          for (const to of phones) {
            const id = yield* accepted(node, key, { session_id: session.id, to, content: "hello" })
            yield* untilMessage(node, key, id, "read")
          }
          yield* writing(all, session.number, 0)
          yield* checkPublished(account, all)
          for (let round = 0; round < rounds; round++) {
            const texts = textsOf(out, `out-${round}`)
            const coming = textsOf(into, `in-${round}`).map((text, index): Written => ({
              text,
              from: phones[index % phones.length] ?? ""
            }))
            all.push(...coming)
            const recipients = texts.map((text, index) => ({ to: phones[index % phones.length], variables: { text } }))
            const json = { session_id: session.id, recipients, content: "{{text}}" }
            const sending = node.request("POST", "/v1/whatsapp/send-bulk", { key, json })
            assert.strictEqual((yield* sending).status, 202)
            yield* writing(coming, session.number, "15 millis")
            yield* settled(node, key)
            yield* checkPublished(account, all)
            yield* checkPhones(phones, { from: session.number, texts })
            assert.deepStrictEqual(yield* troubles, noTroubles)
            const busy = yield* atOnce(session.id, String(round))
            yield* Effect.log(
              `${busy.went} of ${out} went and ${busy.came} of ${into} came while the other direction was busy`
            )
            assert.isAbove(Math.min(busy.went, busy.came), into / 5)
          }
        }),
      60_000 + rounds * 60_000
    )
  }
)
