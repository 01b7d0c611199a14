import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dkimKey, dkimVerdict, ended, insertDomain, sendBulk } from "../support/bulkMail.ts"
import { sendCode } from "../support/codes.ts"
import { Relay } from "../support/Relay.ts"
import { bringForward, schedule } from "../support/scheduled.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

/** The mail to this recipient, as the relay got it. */
const sentTo = Effect.fnUntraced(function*(to: string) {
  const { sink } = yield* Relay
  yield* sink.until(({ messages }) => messages.some((message) => message.to[0] === to))
  return sink.messages.find((message) => message.to[0] === to)?.raw.toString("latin1") ?? ""
})

/** The fields and the body below the signature, which is the first field. */
const unsigned = (mail: string) => mail.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/, "")

const messageIdIn = (mail: string) => /^Message-ID: (<[^>]+>)/m.exec(mail.replaceAll("\r\n ", " "))?.[1]

const sourceOf = (key: string, id: number) =>
  Effect.gen(function*() {
    const { request } = yield* Service
    const answer = yield* request("GET", `/v1/email/messages/${id}/source`, { key })
    const record = yield* request("GET", `/v1/email/messages/${id}`, { key })
    return { answer, messageId: record.at("data", "internet_message_id") }
  })

const recordsOf = (accountId: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows =
      yield* sql`select id, recipient, part_of from email_messages where account_id = ${accountId} order by id`
    return rows.map(({ id, part_of, recipient }) => ({
      id: Number(id),
      to: String(recipient),
      isCopy: part_of !== null
    }))
  })

const tracked = {
  html: "<body><a href=\"https://shop.example/?a=1&amp;b=2\">Shop</a></body>",
  track_opens: true,
  track_clicks: true
}

const node = { env: { MAIL_FROM: "Service <us@signed.example>" } }

layer(Relay.layer(node), { excludeTestServices: true })("the source of an email", (it) => {
  it.effect("a record whose sender is no address by the rules of today is read and listed", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const sent = yield* request("POST", "/v1/email/send", {
        key,
        json: { to: "ada@example.com", subject: "Hi", text: "Hi" }
      })
      const id = Number(sent.at("data", "id"))
      yield* sql`update email_messages set from_address = 'old sender@shop.example' where id = ${id}`
      const listed = yield* request("GET", "/v1/email/messages", { key })
      assert.strictEqual(listed.at("data", 0, "from"), "old sender@shop.example", listed.text)
      const record = yield* request("GET", `/v1/email/messages/${id}`, { key })
      assert.match(String(record.at("data", "internet_message_id")), /@shop\.example>$/)
    }))

  it.effect("has the bytes that the relay got, except for the signature that was made when it was sent", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      yield* insertDomain(accountId, "signed.example", { key: dkimKey.pem })
      const id = yield* sendEmail(yield* Service, key, {
        ...tracked,
        to: "ada@people.example",
        from: "Größe <shop@signed.example>",
        subject: "Grüße",
        headers: { "X-Order": "A-17" },
        attachments: [{ filename: "a.txt", content: Buffer.from("file").toString("base64") }]
      })
      const sent = yield* sentTo("ada@people.example")
      assert.strictEqual((yield* dkimVerdict(Buffer.from(sent, "latin1"))).result, "pass")
      const { answer, messageId } = yield* sourceOf(key, id)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers["content-type"], "message/rfc822")
      assert.strictEqual(answer.headers["content-disposition"], `attachment; filename="email-${id}.eml"`)
      assert.match(answer.headers["content-security-policy"] ?? "", /^sandbox;/)
      assert.strictEqual(answer.text, unsigned(sent))
      assert.notInclude(answer.text, "DKIM-Signature")
      assert.strictEqual(messageId, messageIdIn(sent))
    }))

  it.effect("of a mail to several recipients is the first one's copy, and names no other copy's tokens and no bcc", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      const json = {
        to: ["ann@people.example", "bob@people.example"],
        cc: "cyd@people.example",
        bcc: "dan@people.example"
      }
      const id = yield* sendEmail(yield* Service, key, { ...tracked, ...json, subject: "For all" })
      const { answer, messageId } = yield* sourceOf(key, id)
      const sent = yield* sentTo("ann@people.example")
      assert.strictEqual(answer.text, unsigned(sent))
      assert.strictEqual(messageId, messageIdIn(yield* sentTo("dan@people.example")))
      assert.notInclude(answer.text, "dan@people.example")
      for (const { id: copy, isCopy } of yield* recordsOf(accountId)) {
        if (isCopy) assert.strictEqual((yield* sourceOf(key, copy)).answer.status, 404)
      }
    }))

  it.effect("of a batch names its own recipient alone, with their values and their own links", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      const recipients = ["eve", "fay"].map((name) => ({ to: `${name}@people.example`, variables: { name } }))
      const html = "<p>Dear {{name}}, <a href=\"https://shop.example/\">see</a></p>"
      yield* sendBulk(yield* Service, key, { ...tracked, recipients, subject: "For {{name}}", html })
      for (const { id, to } of yield* recordsOf(accountId)) {
        const sent = yield* sentTo(to)
        const { answer, messageId } = yield* sourceOf(key, id)
        assert.strictEqual(answer.text, unsigned(sent))
        assert.include(answer.text, "List-Unsubscribe-Post")
        assert.notInclude(answer.text, to.startsWith("eve") ? "fay" : "eve")
        assert.strictEqual(messageId, messageIdIn(sent))
      }
    }))

  it.effect("of a mail that is not sent yet counts nothing when it is opened, and the mail is sent later", () =>
    Effect.gen(function*() {
      const service = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const to = "joy@people.example"
      const single = yield* schedule(service, {
        key,
        path: "/v1/email/send",
        body: { ...tracked, to, subject: "Later" }
      })
      const bulk = yield* schedule(service, {
        key,
        path: "/v1/email/send-bulk",
        body: { ...tracked, recipients: ["kim@people.example"], subject: "Later" }
      })
      // The relay defers it once.
      const deferred = yield* sendEmail(service, key, { ...tracked, to: "defer1.lea@people.example", subject: "Again" })
      yield* eventually(
        sql`select from email_messages where id = ${deferred} and status = 'queued' and attempt_count = 1`,
        (rows) => rows.length === 1
      )
      for (const { id } of yield* recordsOf(accountId)) {
        const { answer } = yield* sourceOf(key, id)
        const paths = answer.text.replaceAll("=\r\n", "").replaceAll("=3D", "=").matchAll(/"http[^"]*(\/t\/[^"]*)"/g)
        const visits = yield* Effect.forEach(paths, ([, path = ""]) => service.request("GET", path))
        assert.deepStrictEqual(visits.map(({ status }) => status), [302, 200])
      }
      const rows = yield* sql`select distinct status, opens, clicks, sent_at from email_messages
        where account_id = ${accountId} order by status`
      assert.deepStrictEqual(
        rows,
        ["queued", "scheduled"].map((status) => ({ status, opens: 0, clicks: 0, sent_at: null }))
      )
      assert.deepStrictEqual(
        yield* sql`select from events where account_id = ${accountId} and name <> 'email.delivery_delayed'`,
        []
      )
      yield* bringForward("email", { id: single.at("data", "id") })
      yield* bringForward("email", { batch: bulk.at("data", "batch_id") })
      yield* sql`update email_messages set due_at = now() where id = ${deferred}`
      for (const each of [to, "kim@people.example", "defer1.lea@people.example"]) yield* sentTo(each)
    }))

  it.effect("shows stars for a one-time code", () =>
    Effect.gen(function*() {
      const { accountId, key } = yield* makeAccount()
      yield* sendCode(yield* Service, { key, json: { to: "gil@people.example", channel: "email" } })
      const code = /\b\d{6}\b/.exec((yield* sentTo("gil@people.example")).split("\r\n\r\n").slice(1).join(" "))?.[0] ??
        ""
      assert.lengthOf(code, 6)
      const [record] = yield* recordsOf(accountId)
      const { answer } = yield* sourceOf(key, record?.id ?? 0)
      assert.strictEqual(answer.status, 200)
      assert.notInclude(answer.text, code)
      assert.include(answer.text, "******")
    }))

  it.effect("is 410 once the texts are no longer kept, while the record keeps its Message-ID", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const id = yield* sendEmail(yield* Service, key, { to: "hal@people.example", subject: "Hello", text: "Hello" })
      const before = messageIdIn(yield* sentTo("hal@people.example"))
      const bulk = { recipients: ["ida@people.example"], subject: "Hello", text: "Hello" }
      const batch = yield* sendBulk(yield* Service, key, bulk)
      const ofBatch = messageIdIn(yield* sentTo("ida@people.example"))
      yield* ended(yield* Service, key, batch)
      yield* sql`delete from email_contents where account_id = ${accountId}`
      yield* sql`update email_batches set completed_at = now() - interval '25 hours' where account_id = ${accountId}`
      const kept = [before, ofBatch]
      for (const [index, record] of (yield* recordsOf(accountId)).entries()) {
        const { answer, messageId } = yield* sourceOf(key, record.id)
        assert.deepStrictEqual([answer.status, answer.at("error", "type")], [410, "source_gone"])
        assert.strictEqual(messageId, kept[index])
      }
      assert.strictEqual((yield* sourceOf((yield* makeAccount()).key, id)).answer.status, 404)
    }))
})
