import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune } from "../../src/app/server/Pruning.ts"
import { retain } from "../../src/app/server/Retention.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { readMail } from "../support/bulkMail.ts"
import { recreatePartitions } from "../support/partitions.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

const file = Buffer.from("attachment ".repeat(2_000))
const html = `<p>Hello {{name}}</p><p>${"text ".repeat(2_000)}</p>`

layer(AppConfig.layer.pipe(Layer.provideMerge(Relay.layer())), { excludeTestServices: true })(
  "large bodies of mail",
  (it) => {
    it.effect("are stored once for an account and a day, and sent whole", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { sink } = yield* Relay
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const attachments = [{ filename: "a.txt", content: file.toString("base64") }]
        for (const to of ["one@people.example", "two@people.example", "three@people.example"]) {
          yield* sendEmail(node, key, { to, subject: "Hello", text: "Hello", attachments })
        }
        for (const to of ["four@people.example", "five@people.example"]) {
          const json = { recipients: [{ to, variables: { name: to } }], subject: "Hello", html }
          const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
          assert.strictEqual(answer.status, 202, answer.text)
        }
        yield* eventually(Effect.sync(() => sink.messages.length), (count) => count === 5)
        for (const message of sink.messages) {
          const { mail } = yield* readMail(message.raw)
          const to = message.to[0] ?? ""
          if (/four|five/.test(to)) assert.include(mail.html, `Hello ${to}`)
          else assert.deepStrictEqual(Buffer.from(Object(mail.attachments[0]).content), file)
        }
        const sizes = yield* sql`select octet_length(content) as size from email_bodies where account_id = ${accountId}
          order by 1`
        assert.deepStrictEqual(sizes.map(({ size }) => Number(size)).length, 2)
        const other = yield* makeAccount()
        yield* sendEmail(node, other.key, { to: "six@people.example", subject: "Hello", text: "Hello", attachments })
        assert.lengthOf(yield* sql`select from email_bodies where account_id = ${other.accountId}`, 1)
      }))

    it.effect("are read with the values of the recipient, until they are no longer kept", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const attachments = [{ filename: "a.txt", content: file.toString("base64"), content_type: "text/plain" }]
        const mail = { subject: "For {{name}}", html, reply_to: "Desk <desk@people.example>" }
        const variables = { name: "Ada" }
        yield* sendEmail(node, key, { ...mail, to: "one@people.example", variables, attachments })
        const json = { subject: "For {{name}}", html, recipients: [{ to: "two@people.example", variables }] }
        assert.strictEqual((yield* node.request("POST", "/v1/email/send-bulk", { key, json })).status, 202)
        const rows = yield* sql`select id from email_messages where account_id = ${accountId} order by id`
        const [single = 0, ofBatch = 0] = rows.map(({ id }) => Number(id))
        const content = (id: number, as = key) => node.request("GET", `/v1/email/messages/${id}/content`, { key: as })
        const texts = { subject: "For Ada", html: html.replace("{{name}}", "Ada") }
        const found = yield* content(single)
        const { text } = Object(found.at("data"))
        assert.match(text, /^Hello Ada/)
        assert.deepInclude(Object(found.at("data")), {
          ...texts,
          reply_to: "\"Desk\" <desk@people.example>",
          attachments: [{ filename: "a.txt", content_type: "text/plain", size: file.length }]
        })
        const other = yield* content(ofBatch)
        assert.deepInclude(Object(other.at("data")), { ...texts, text, reply_to: null, attachments: [] })
        assert.strictEqual((yield* content(single, (yield* makeAccount()).key)).status, 404)
        yield* sql`delete from email_contents where account_id = ${accountId}`
        const gone = yield* content(single)
        assert.deepInclude(Object(gone.at("data")), { subject: "For Ada", html: null, text: null, attachments: [] })
      }))

    it.effect("are dropped with their day, but not while a mail of that day is kept or its batch may be sent again", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const days = sql`select (now() at time zone 'UTC')::date - day as days from email_bodies
          where account_id = ${accountId} order by day desc`
        yield* recreatePartitions(-5, 14)
        yield* sql`insert into email_bodies (day, account_id, hash, content)
          select (now() at time zone 'UTC')::date - n, ${accountId}::bigint, 'h', 'c' from generate_series(0, 5) as n`
        yield* sql`delete from email_contents`
        yield* sql`with sent as (
            insert into email_messages (account_id, recipient, status, created_at)
            values (${accountId}, 'a', 'sent', now() - interval '3 days') returning id, created_at
          )
          insert into email_contents (id, account_id, message_id, created_at)
          select id, ${accountId}::bigint, 'm', created_at from sent`
        yield* Effect.replicateEffect(retain, 3, { discard: true })
        assert.deepStrictEqual(yield* days, [0, 1, 2, 3].map((days) => ({ days })))
        yield* sql`delete from email_contents`
        yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total, body_day, completed_at)
          select 'ended', ${accountId}::bigint, 'a@b.example', 'Hello', '', 1, (now() at time zone 'UTC')::date - 3,
            now() - interval '23 hours'`
        yield* Effect.replicateEffect(retain, 3, { discard: true })
        assert.deepStrictEqual(yield* days, [0, 1, 2, 3].map((days) => ({ days })))
        yield* sql`update email_batches set completed_at = now() - interval '25 hours' where id = 'ended'`
        yield* prune
        yield* Effect.replicateEffect(retain, 3, { discard: true })
        assert.deepStrictEqual(yield* days, [0, 1].map((days) => ({ days })))
      }))
  }
)
