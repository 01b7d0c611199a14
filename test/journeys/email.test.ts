import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { asking, dkimKey, dkimVerdict, ended, insertDomain, readMail, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeListener, reaching, sendEmail } from "../support/singleMail.ts"

/** The one message that the relay accepted for this recipient, once it has arrived. */
const mailTo = Effect.fnUntraced(function*(to: string) {
  const { sink } = yield* Relay
  yield* sink.until(({ messages }) => messages.some((message) => message.to[0] === to))
  const mails = sink.messages.filter((message) => message.to.includes(to))
  assert.strictEqual(mails.length, 1, `copies for ${to}`)
  const [mail = { raw: Buffer.alloc(0), from: "", to: [] }] = mails
  assert.deepStrictEqual(mail.to, [to])
  return { ...mail, ...(yield* readMail(mail.raw)) }
})

layer(Relay.layer(), { excludeTestServices: true })("single email", (it) => {
  it.effect("an email is sent and signed, publishes email.sent and can be read back", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key, received } = yield* makeListener(node, ["email.*"])
      yield* insertDomain(accountId, "shop.example", { key: dkimKey.pem })
      const answer = yield* node.request("POST", "/v1/email/send", {
        key,
        json: {
          to: "one@people.example",
          from: "Ignored <orders@shop.example>",
          from_name: "Shop, \"Ünited\"",
          reply_to: "Help <help@elsewhere.example>",
          subject: "Receipt {{number}} ✓",
          html: "<p>Hello {{name}}</p>",
          variables: { number: 7, name: "<Ann>" },
          headers: { "X-Order": "A-17", References: "<one@elsewhere.example> <two@elsewhere.example>" }
        }
      })
      assert.strictEqual(answer.status, 202, answer.text)
      const id = Number(answer.at("data", "id"))
      assert.deepStrictEqual(answer.json, {
        success: true,
        data: { id, message_id: id, to: "one@people.example", status: "queued", send_at: null, warnings: [] }
      })
      assert.strictEqual(answer.headers["location"], `/v1/email/messages/${id}`)
      const { field, from, mail, raw } = yield* mailTo("one@people.example")
      assert.strictEqual(from, "orders@shop.example")
      assert.deepStrictEqual(mail.from, { name: "Shop, \"Ünited\"", address: "orders@shop.example" })
      assert.deepStrictEqual(mail.replyTo, [{ name: "Help", address: "help@elsewhere.example" }])
      assert.strictEqual(mail.subject, "Receipt 7 ✓")
      assert.strictEqual(mail.html?.trim(), "<p>Hello &lt;Ann&gt;</p>")
      assert.strictEqual(mail.text?.trim(), "Hello <Ann>")
      assert.deepStrictEqual(field("to"), ["one@people.example"])
      assert.deepStrictEqual(field("x-order"), ["A-17"])
      assert.deepStrictEqual(field("references"), ["<one@elsewhere.example> <two@elsewhere.example>"])
      assert.match(field("message-id").join(), /^<[^@<>\s]+@shop\.example>$/)
      for (const name of ["list-unsubscribe", "list-unsubscribe-post", "bcc", "cc"]) {
        assert.deepStrictEqual(field(name), [], name)
      }
      assert.deepStrictEqual(yield* dkimVerdict(raw), { result: "pass", domain: "shop.example" })

      const [event] = yield* received(1)
      const record = yield* reaching(node, { id, key, statuses: ["sent"] })
      const { created_at, sent_at } = record
      assert.strictEqual(event?.event, "email.sent")
      const published = {
        id,
        batch_id: null,
        to: "one@people.example",
        subject: "Receipt 7 ✓",
        sent_at,
        tags: [],
        metadata: {},
        failover_id: null
      }
      assert.deepStrictEqual(event?.data, published)
      const progress = { status: "sent", bounce_type: null, error: null, sent_at, delivered_at: null }
      const reads = { opens: 0, clicks: 0, opened_at: null, clicked_at: null }
      assert.deepStrictEqual(record, {
        ...published,
        ...progress,
        ...reads,
        from: "orders@shop.example",
        internet_message_id: field("message-id").join(),
        mode: "live",
        template_id: null,
        send_at: null,
        created_at,
        recipients: [{ to: "one@people.example", kind: "to", ...progress, ...reads }]
      })
    }))

  it.effect("an email has a text only, or the texts of a stored template as it is now", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      yield* sendEmail(node, key, { to: ["plain@people.example"], subject: "s", text: "Hi {{who|you}}\n.dot" })
      const plain = yield* mailTo("plain@people.example")
      assert.deepStrictEqual([plain.mail.html, plain.mail.text?.trim()], [undefined, "Hi you\n.dot"])
      assert.match(plain.field("content-type").join(), /^text\/plain/)
      assert.strictEqual(plain.mail.from?.address, "no-reply@localhost.localdomain")
      const stored = { name: "t", subject: "For {{name}}", html: "<b>{{name}}</b>", text: "T {{name}}" }
      const template = yield* node.request("POST", "/v1/email/templates", { key, json: stored })
      const template_id = template.at("data", "id")
      const id = yield* sendEmail(node, key, {
        to: "templated@people.example",
        template_id,
        variables: { name: "{{x}} & Co" }
      })
      const { mail } = yield* mailTo("templated@people.example")
      assert.strictEqual(mail.subject, "For {{x}} & Co")
      assert.strictEqual(mail.html?.trim(), "<b>{{x}} &amp; Co</b>")
      assert.strictEqual(mail.text?.trim(), "T {{x}} & Co")
      assert.deepInclude(yield* reaching(node, { id, key, statuses: ["sent"] }), {
        template_id,
        subject: "For {{x}} & Co"
      })
    }))

  it.effect("a media type may have parameters, and an attached message is sent as octets", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const content = Buffer.from("Subject: a;b\r\n\r\nc").toString("base64")
      yield* sendEmail(node, key, {
        to: "types@people.example",
        subject: "s",
        text: "t",
        attachments: [
          { filename: "list.csv", content, content_type: "text/csv; charset=utf-8" },
          { filename: "mail.eml", content, content_type: "message/rfc822" }
        ]
      })
      const { mail } = yield* mailTo("types@people.example")
      assert.deepStrictEqual(mail.attachments.map(({ filename, mimeType }) => [filename, mimeType]), [
        ["list.csv", "text/csv"],
        ["mail.eml", "application/octet-stream"]
      ])
    }))

  it.effect("an email carries 7 MiB of attachments byte for byte and an HTML of 5 MB", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const files = [
        { filename: "empty.bin", bytes: Buffer.alloc(0), content_type: "application/octet-stream" },
        { filename: "Rechnung Ü, \"2\".pdf", bytes: NodeCrypto.randomBytes(100_003), content_type: "application/pdf" },
        { filename: "big.bin", bytes: NodeCrypto.randomBytes(7 * 1024 * 1024 - 100_003), content_type: "image/png" }
      ]
      yield* sendEmail(node, key, {
        to: "files@people.example",
        subject: "s",
        text: "t",
        attachments: files.map(({ bytes, ...file }) => ({ ...file, content: bytes.toString("base64") }))
      })
      const { mail } = yield* mailTo("files@people.example")
      assert.strictEqual(mail.attachments.length, 3)
      for (const [index, { bytes, content_type, filename }] of files.entries()) {
        const { content, ...got } = mail.attachments[index] ?? { content: "" }
        assert.deepInclude(got, { filename, mimeType: content_type })
        assert.isTrue(Buffer.from(content as ArrayBuffer).equals(bytes), filename)
      }
      const html = `<p>${"Ünited ".repeat(714_000)}</p>`
      yield* sendEmail(node, key, { to: "long@people.example", subject: "s", html })
      const long = yield* mailTo("long@people.example")
      assert.isTrue(long.mail.html?.trim() === html, "the HTML is another one")
    }))

  it.effect("a look-alike internationalised address appears as A-labels in answer, envelope, header and record", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      // The first letters are Cyrillic.
      const json = {
        to: "ann@\u0440\u0430ypal.example",
        reply_to: "x@\u0440\u0430ypal.example",
        subject: "s",
        text: "t"
      }
      const answer = yield* node.request("POST", "/v1/email/send", { key, json })
      const to = "ann@xn--ypal-43d9g.example"
      assert.strictEqual(answer.at("data", "to"), to)
      // The sink's library shows the envelope's A-labels decoded.
      const { field } = yield* mailTo(json.to)
      assert.deepStrictEqual([field("to"), field("reply-to")], [[to], ["x@xn--ypal-43d9g.example"]])
      const record = yield* reaching(node, { id: Number(answer.at("data", "id")), key, statuses: ["sent"] })
      assert.strictEqual(record["to"], to)
    }))

  it.effect("a recipient as Name <address> in to, cc or bcc gets the email at the bare address, and no name is sent", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const id = yield* sendEmail(node, key, {
        to: ["Ann Lee <named-to@people.example>", "\"Ng, Bo\" <named-too@people.example>"],
        cc: "Cy <named-cc@people.example>",
        bcc: ["Di <named-bcc@people.example>"],
        subject: "s",
        text: "t"
      })
      for (const name of ["to", "too", "cc", "bcc"]) {
        const { field, raw } = yield* mailTo(`named-${name}@people.example`)
        assert.deepStrictEqual(
          [field("to"), field("cc")],
          [["named-to@people.example, named-too@people.example"], ["named-cc@people.example"]]
        )
        assert.notMatch(raw.toString(), /Ann Lee|Ng, Bo|Cy <|Di </)
      }
      const record = yield* reaching(node, { id, key, statuses: ["sent"] })
      assert.deepStrictEqual(record["to"], ["named-to@people.example", "named-too@people.example"])
      const one = yield* sendEmail(node, key, { to: "Ed <named-one@people.example>", subject: "s", text: "t" })
      assert.deepStrictEqual((yield* mailTo("named-one@people.example")).field("to"), ["named-one@people.example"])
      assert.deepInclude(yield* reaching(node, { id: one, key, statuses: ["sent"] }), {
        to: "named-one@people.example"
      })
    }))

  it.effect("an email to several in to, cc and bcc gives each recipient a separate copy, event and status", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key, received } = yield* makeListener(node, ["email.*"])
      const to = ["several-a@people.example", "bounce-several@people.example"]
      const answer = yield* node.request("POST", "/v1/email/send", {
        key,
        json: {
          to: [...to, "SEVERAL-a@people.example"],
          cc: "several-cc@people.example",
          bcc: ["several-bcc@people.example", "several-cc@people.example"],
          subject: "s",
          text: "t"
        }
      })
      const id = Number(answer.at("data", "id"))
      assert.deepInclude(answer.at("data"), { id, to, status: "queued" })
      const record = yield* reaching(node, { id, key, statuses: ["sent"] })
      assert.deepInclude(record, { to, status: "sent", bounce_type: "hard", error: "550 5.1.1 no such user" })
      const { recipients } = record as { readonly recipients: ReadonlyArray<Record<string, unknown>> }
      assert.deepStrictEqual(recipients.map(({ kind, status, to: address }) => [kind, address, status]), [
        ["to", to[0], "sent"],
        ["to", to[1], "bounced"],
        ["cc", "several-cc@people.example", "sent"],
        ["bcc", "several-bcc@people.example", "sent"]
      ])
      const copies = []
      for (const name of ["several-a", "several-cc", "several-bcc"]) {
        copies.push(yield* mailTo(`${name}@people.example`))
      }
      for (const { field, raw } of copies) {
        assert.deepStrictEqual([field("to"), field("cc")], [[to.join(", ")], ["several-cc@people.example"]])
        assert.notInclude(raw.toString(), "several-bcc")
        assert.deepStrictEqual(field("message-id"), copies[0]?.field("message-id"))
      }
      const events = yield* received(4)
      assert.deepStrictEqual(
        events.map(({ data, event }) => [event, data["to"], data["id"], data["batch_id"]]).toSorted(),
        [
          ["email.bounced", to[1], id, null],
          ["email.sent", to[0], id, null],
          ["email.sent", "several-bcc@people.example", id, null],
          ["email.sent", "several-cc@people.example", id, null]
        ].toSorted()
      )
      const fifty = Array.from({ length: 50 }, (_, index) => `fifty${index}@people.example`)
      const all = yield* sendEmail(node, key, { to: fifty, subject: "s", text: "t" })
      assert.deepInclude(yield* reaching(node, { id: all, key, statuses: ["sent"] }), { to: fifty })
      assert.isTrue(fifty.every((address) => sink.deliveries.get(address) === 1))
    }))

  it.effect("suppressed recipients are skipped, and the status is suppressed when none is left", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      yield* sql`insert into suppressions (account_id, email, reason) values (${accountId}, 'left@people.example', 'manual')`
      const mail = { subject: "s", text: "t" }
      const none = yield* node.request("POST", "/v1/email/send", { key, json: { ...mail, to: "LEFT@people.example" } })
      assert.deepInclude(none.at("data"), { to: "LEFT@people.example", status: "suppressed" })
      const some = yield* sendEmail(node, key, { ...mail, to: "left@people.example", bcc: "stays@people.example" })
      assert.deepInclude(yield* reaching(node, { id: some, key, statuses: ["sent"] }), { to: "left@people.example" })
      const late = yield* sendEmail(node, key, { ...mail, to: "defer1-left@people.example" })
      yield* asking(
        node.request("GET", `/v1/email/messages/${late}`, { key }),
        ({ at }) => at("data", "error") === "450 4.2.1 try again later"
      )
      yield* sql`insert into suppressions (account_id, email, reason)
        values (${accountId}, 'defer1-left@people.example', 'manual')`
      yield* sql`update email_messages set due_at = now() where id = ${late}`
      yield* reaching(node, { id: late, key, statuses: ["suppressed"] })
      assert.strictEqual(sink.attempts.get("defer1-left@people.example"), 1)
      assert.isUndefined(sink.attempts.get("left@people.example"))
      assert.isUndefined(sink.attempts.get("LEFT@people.example"))
    }))

  it.effect("a deferred email or one whose answer was lost is sent again with the same bytes", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      for (const [to, copies] of [["defer1-again@people.example", 1], ["drop-again@people.example", 2]] as const) {
        const id = yield* sendEmail(node, key, { to, subject: "s", text: "t" })
        const read = node.request("GET", `/v1/email/messages/${id}`, { key })
        const waiting = yield* asking(read, ({ at }) => typeof at("data", "error") === "string")
        assert.deepInclude(waiting.at("data"), { status: "queued", sent_at: null })
        const [due] = yield* sql`select extract(epoch from due_at - now())::float8 as seconds from email_messages
          where id = ${id}`
        assert.isTrue(Number(due?.["seconds"]) > 5 && Number(due?.["seconds"]) <= 30, String(due?.["seconds"]))
        yield* sql`update email_messages set due_at = now() where id = ${id}`
        assert.deepInclude(yield* reaching(node, { id, key, statuses: ["sent"] }), { error: null })
        const raws = sink.messages.filter((message) => message.to[0] === to).map(({ raw }) => raw.toString())
        assert.strictEqual(raws.length, copies)
        assert.strictEqual(new Set(raws).size, 1)
      }
    }))

  it.effect("an email fails and is not sent when its domain's DKIM key is unusable", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, key } = yield* makeAccount()
      yield* insertDomain(accountId, "torn.example", { key: Buffer.from("not sealed by us") })
      const mail = { to: "unsigned@people.example", from: "us@torn.example", subject: "s", text: "t" }
      const id = yield* sendEmail(node, key, mail)
      const { error } = yield* reaching(node, { id, key, statuses: ["failed"] })
      assert.match(String(error), /could not be signed for torn\.example/)
      assert.isUndefined(sink.attempts.get("unsigned@people.example"))
    }))

  it.effect("an email is not sent when its account was removed in the meantime", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const id = yield* sendEmail(node, key, { to: "defer1-removed@people.example", subject: "s", text: "t" })
      const row = sql`select status, error from email_messages where id = ${id}`
      yield* eventually(row, ([found]) => found?.["error"] !== null)
      yield* sql`delete from accounts where id = ${accountId}`
      yield* sql`update email_messages set due_at = now() where id = ${id}`
      const [ended] = yield* eventually(row, ([found]) => found?.["status"] === "failed")
      assert.strictEqual(ended?.["error"], "the account was removed")
      assert.strictEqual(sink.attempts.get("defer1-removed@people.example"), 1)
    }))

  it.effect("an email does not wait behind a batch of 500 that is being sent", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const people = Array.from({ length: 500 }, (_, index) => `slow-crowd${index}@people.example`)
      const batch = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: people })
      const crowd = () => sink.messages.filter(({ to }) => to[0]?.startsWith("slow-crowd")).length
      yield* sink.until(() => crowd() >= 20)
      for (let index = 0; index < 5; index++) {
        const before = crowd()
        yield* sendEmail(node, key, { to: `first${index}@people.example`, subject: "s", text: "t" })
        yield* mailTo(`first${index}@people.example`)
        assert.isBelow(crowd() - before, 100, "the batch went first")
      }
      assert.isBelow(crowd(), 500)
      yield* ended(node, key, batch)
    }))
})
