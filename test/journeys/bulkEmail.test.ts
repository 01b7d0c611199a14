import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, dkimKey, dkimVerdict, ended, insertDomain, readMail, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { secondsAhead } from "../support/scheduled.ts"
import { type Answer, makeAccount, type RunningNode, Service } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { makeWebhookReceiver, type WebhookReceiver } from "../support/WebhookReceiver.ts"

const people = (count: number, prefix = "user") =>
  Array.from({ length: count }, (_, index) => ({
    to: `${prefix}${index}@people.example`,
    variables: { name: `N${index} <b>& "Ü"`, order: index, shop: { city: `Kigali-${index}` }, vip: index % 2 === 0 }
  }))

const mail = {
  subject: "Order {{order}} for {{name}}",
  html: "<p>Hello {{name}}, {{shop.city}} {{vip}}</p>",
  text: "Hello {{ name }}, from {{shop.city}}\n.dot"
}

/** Creates a webhook of the account with a new receiver. */
const listen = Effect.fnUntraced(function*(node: RunningNode, key: string, events: ReadonlyArray<string>) {
  const receiver = yield* makeWebhookReceiver()
  const answer = yield* node.request("POST", "/v1/webhooks", { key, json: { url: `${receiver.url}/hook`, events } })
  assert.strictEqual(answer.status, 201, answer.text)
  return { receiver, secret: String(answer.at("data", "secret")), id: Number(answer.at("data", "id")) }
})

const eventsAt = (receiver: WebhookReceiver, secret: string, count: number) =>
  Effect.map(receiver.received(count), (requests) => requests.map((request) => signedEvent(request, secret)))

const parts = ["queued", "sent", "failed", "suppressed", "canceled"]

const sumOf = (counts: unknown) => parts.reduce((sum, part) => sum + Number(Reflect.get(Object(counts), part)), 0)

layer(Relay.layer(), { excludeTestServices: true })("bulk email", (it) => {
  it.effect("a batch sends 500 personalised, signed messages to one recipient each and publishes email.bulk_completed once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, key } = yield* makeAccount()
      yield* insertDomain(accountId, "news.example", { key: dkimKey.pem })
      const { receiver, secret } = yield* listen(node, key, ["email.bulk_completed"])
      const recipients = people(500)
      const before = sink.messages.length
      const id = yield* sendBulk(node, key, {
        ...mail,
        recipients,
        from: "hello@news.example",
        from_name: "Ünited, \"News\""
      })
      assert.match(id, /^email_batch_[0-9A-HJKMNP-TV-Z]{26}$/)
      const done = yield* ended(node, key, id)
      const mails = sink.messages.slice(before)
      assert.strictEqual(mails.length, 500)
      assert.strictEqual(new Set(mails.map(({ to }) => to.join())).size, 500)
      const ids = new Set<string>()
      const links = new Set<string>()
      for (const { from, raw, to } of mails) {
        const index = Number(/^user(\d+)@/.exec(to[0] ?? "")?.[1])
        const name = `N${index} <b>& "Ü"`
        const { field, mail: read } = yield* readMail(raw)
        assert.deepStrictEqual([to.length, from], [1, "hello@news.example"])
        assert.deepStrictEqual(field("to"), [`user${index}@people.example`])
        assert.deepStrictEqual([read.from?.name, read.from?.address], ["Ünited, \"News\"", "hello@news.example"])
        assert.strictEqual(read.subject, `Order ${index} for ${name}`)
        assert.strictEqual(
          read.html?.trim(),
          `<p>Hello N${index} &lt;b&gt;&amp; &quot;Ü&quot;, Kigali-${index} ${index % 2 === 0}</p>`
        )
        assert.strictEqual(read.text?.trim(), `Hello ${name}, from Kigali-${index}\n.dot`)
        assert.isTrue(Math.abs(Date.parse(read.date ?? "") - Date.now()) < 300_000)
        assert.match(field("message-id").join(), /^<[^@<>\s]+@news\.example>$/)
        assert.deepStrictEqual(field("list-unsubscribe-post"), ["List-Unsubscribe=One-Click"])
        assert.match(field("list-unsubscribe").join(), /^<http:\/\/127\.0\.0\.1:\d+\/u\/\d+-[\w-]{16}>$/)
        assert.deepStrictEqual(field("feedback-id"), [`${id}:${accountId}:bulk:messaging`])
        for (const name of ["from", "subject", "date", "mime-version", "content-type", "dkim-signature"]) {
          assert.strictEqual(field(name).length, 1, name)
        }
        assert.deepStrictEqual(yield* dkimVerdict(raw), { result: "pass", domain: "news.example" })
        ids.add(field("message-id").join())
        links.add(field("list-unsubscribe").join())
      }
      assert.deepStrictEqual([ids.size, links.size], [500, 500])
      const counts = { total: 500, sent: 500, failed: 0, suppressed: 0, canceled: 0 }
      const completed_at = done.at("data", "completed_at")
      assert.deepInclude(done.at("data"), { ...counts, batch_id: id, status: "completed", queued: 0 })
      const [event] = yield* eventsAt(receiver, secret, 1)
      assert.match(event?.id ?? "", /^evt_/)
      assert.strictEqual(event?.event, "email.bulk_completed")
      assert.deepStrictEqual(event?.data, { batch_id: id, tags: [], metadata: {}, ...counts, completed_at })
      assert.strictEqual(receiver.requests.length, 1)
    }))

  it.effect("mail from the default sender or a domain without a key goes out unsigned", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, key } = yield* makeAccount()
      yield* insertDomain(accountId, "plain.example")
      const standard = yield* sendBulk(node, key, {
        subject: "s",
        html: "h",
        recipients: ["unsigned-a@people.example"]
      })
      const plain = yield* sendBulk(node, key, {
        subject: "s",
        html: "h",
        recipients: [{ to: "unsigned-b@people.example" }],
        from: "Plain <us@plain.example>"
      })
      yield* ended(node, key, standard)
      yield* ended(node, key, plain)
      const read = (to: string) =>
        readMail(sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0))
      const first = yield* read("unsigned-a@people.example")
      assert.strictEqual(first.mail.from?.address, "no-reply@localhost.localdomain")
      const second = yield* read("unsigned-b@people.example")
      assert.deepStrictEqual([second.mail.from?.name, second.mail.from?.address], ["Plain", "us@plain.example"])
      assert.deepStrictEqual([first.field("dkim-signature"), second.field("dkim-signature")], [[], []])
      // A message without a text part gets one made from its HTML.
      assert.strictEqual(first.mail.text?.trim(), "h")
    }))

  it.effect("a recipient as Name <address>, alone or in an object, gets a batch's mail at the bare address", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const recipients = ["Ann Lee <named-a@people.example>", { to: "\"Ng, Bo\" <named-b@people.example>" }]
      yield* ended(node, key, yield* sendBulk(node, key, { subject: "s", text: "t", recipients }))
      for (const to of ["named-a@people.example", "named-b@people.example"]) {
        const found = sink.messages.filter((message) => message.to.includes(to))
        assert.deepStrictEqual(found.map((message) => message.to), [[to]])
        const { field } = yield* readMail(found[0]?.raw ?? Buffer.alloc(0))
        assert.deepStrictEqual(field("to"), [to])
      }
    }))

  it.effect("a batch of text alone sends text alone, with values that recipients share or replace", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const batch = yield* sendBulk(node, key, {
        subject: "For {{name}}",
        text: "Dear {{name}}, from {{shop.city}}",
        track_opens: true,
        variables: { name: "reader", shop: { city: "Kigali" } },
        recipients: ["shared@people.example", { to: "own@people.example", variables: { name: "Ada" } }]
      })
      yield* ended(node, key, batch)
      const read = (to: string) =>
        readMail(sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0))
      const texts = yield* Effect.forEach(["shared@people.example", "own@people.example"], read)
      assert.deepStrictEqual(texts.map(({ mail }) => [mail.subject, mail.text?.trim(), mail.html]), [
        ["For reader", "Dear reader, from Kigali", undefined],
        ["For Ada", "Dear Ada, from Kigali", undefined]
      ])
      const neither = yield* node.request("POST", "/v1/email/send-bulk", {
        key,
        json: { subject: "s", recipients: ["a@people.example"] }
      })
      assert.strictEqual(neither.at("error", "message"), "html: is required unless text or template_id is given.")
    }))

  it.effect("a batch fails every recipient and sends nothing when the domain's DKIM key is unusable", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, key } = yield* makeAccount()
      yield* insertDomain(accountId, "broken.example", {
        key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"
      })
      yield* insertDomain(accountId, "sealed.example", { key: Buffer.from("not sealed by us") })
      for (const domain of ["broken.example", "sealed.example"]) {
        const before = sink.connections.total + sink.messages.length
        const id = yield* sendBulk(node, key, {
          subject: "s",
          html: "h",
          from: `us@${domain}`,
          recipients: people(3, "nokey").map(({ to }) => to)
        })
        const done = yield* ended(node, key, id)
        assert.deepInclude(done.at("data"), { status: "failed", total: 3, failed: 3, sent: 0 })
        const { at } = yield* node.request("GET", `/v1/email/batches/${id}/recipients`, { key })
        assert.match(String(at("data", 0, "error")), new RegExp(`could not be signed for ${domain}`))
        assert.strictEqual(sink.connections.total + sink.messages.length, before)
      }
      assert.isFalse(sink.messages.some(({ to }) => to.some((address) => address.startsWith("nokey"))))
    }))

  it.effect("rejected recipients bounce at once, deferred ones are retried, and neither delays the others", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const { receiver, secret } = yield* listen(node, key, ["email.*"])
      const words = ["bounce-x", "defer2-x", "full-x", "fine-a", "fine-b", "fine-c"]
      const id = yield* sendBulk(node, key, {
        subject: "s",
        html: "<p>h {{word}}</p>",
        recipients: words.map((word) => ({ to: `${word}@people.example`, variables: { word } }))
      })
      yield* sink.until(({ messages }) =>
        ["fine-a", "fine-b", "fine-c"].every((word) => messages.some(({ to }) => to[0]?.startsWith(word)))
      )
      const recipientsOf = (query = "") => node.request("GET", `/v1/email/batches/${id}/recipients${query}`, { key })
      const counts = node.request("GET", `/v1/email/batches/${id}`, { key })
      const waiting = yield* asking(counts, ({ at }) => at("data", "sent") === 3 && at("data", "failed") === 2)
      assert.deepInclude(waiting.at("data"), { status: "processing", total: 6, queued: 1, completed_at: null })
      // One that is being sent counts as queued, too.
      const isPutOff = ({ at }: Answer) => typeof at("data", 0, "error") === "string"
      const deferred = yield* asking(recipientsOf("?status=queued"), isPutOff)
      assert.deepInclude(deferred.at("data", 0), {
        to: "defer2-x@people.example",
        attempt_count: 1,
        error: "450 4.2.1 try again later"
      })
      const [due] = yield* sql`select extract(epoch from due_at - now())::float8 as seconds from email_messages
        where batch_id = ${id} and status = 'queued'`
      assert.isTrue(Number(due?.["seconds"]) > 5 && Number(due?.["seconds"]) <= 30, String(due?.["seconds"]))

      // Makes the retry due now instead of waiting 30 seconds.
      for (const attempts of [1, 2]) {
        yield* asking(recipientsOf("?status=queued"), ({ at }) => at("data", 0, "attempt_count") === attempts)
        yield* sql`update email_messages set due_at = now() - interval '1 minute'
          where batch_id = ${id} and status = 'queued'`
      }
      const done = yield* ended(node, key, id)
      assert.deepInclude(done.at("data"), { status: "completed", total: 6, sent: 4, failed: 2, queued: 0 })
      assert.strictEqual(sink.attempts.get("defer2-x@people.example"), 3)
      // The batch had released its texts while it waited.
      const late = sink.messages.find(({ to }) => to[0] === "defer2-x@people.example")
      assert.include((yield* readMail(late?.raw ?? Buffer.of())).mail.html ?? "", "h defer2-x")
      assert.strictEqual(sink.attempts.get("bounce-x@people.example"), 1)
      const rows = (yield* recipientsOf()).at("data")
      const of = (word: string) => (rows as ReadonlyArray<{ to: string }>).find(({ to }) => to.startsWith(word)) ?? {}
      assert.deepInclude(of("bounce"), { status: "bounced", bounce_type: "hard", error: "550 5.1.1 no such user" })
      assert.deepInclude(of("full"), { status: "bounced", bounce_type: "soft", error: "552 5.2.2 mailbox full" })
      const suppressed = yield* sql`select email, reason from suppressions where account_id = ${accountId}`
      assert.deepStrictEqual(suppressed, [{ email: "bounce-x@people.example", reason: "bounce" }])

      const events = yield* eventsAt(receiver, secret, 9)
      const named = (name: string): ReadonlyArray<Record<string, unknown>> =>
        events.filter(({ event }) => event === name).map(({ data }) => data)
      assert.sameMembers(named("email.sent").map(({ to }) => to), [
        ...["a", "b", "c"].map((letter) => `fine-${letter}@people.example`),
        "defer2-x@people.example"
      ])
      assert.deepInclude(named("email.bounced").find(({ to }) => to === "bounce-x@people.example") ?? {}, {
        batch_id: id,
        bounce_type: "hard",
        error: "550 5.1.1 no such user"
      })
      assert.deepInclude(named("email.bulk_completed")[0] ?? {}, { batch_id: id, total: 6, sent: 4, failed: 2 })
      assert.strictEqual(new Set(events.map((event) => event.id)).size, 9)

      const again = yield* sendBulk(node, key, {
        subject: "s",
        html: "h",
        recipients: ["BOUNCE-x@people.example", "fine-d@people.example"]
      })
      const second = yield* ended(node, key, again)
      assert.deepInclude(second.at("data"), { status: "completed", total: 2, sent: 1, suppressed: 1, failed: 0 })
      assert.isUndefined(sink.attempts.get("BOUNCE-x@people.example"))
    }))

  it.effect("counts add up to the total at every moment, in the batch and in its recipient list", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const id = yield* sendBulk(node, key, {
        ...mail,
        recipients: [...people(150, "slow"), ...people(30, "bouncesum"), ...people(20, "defersum")]
      })
      let samples = 0
      yield* asking(node.request("GET", `/v1/email/batches/${id}`, { key }), ({ at }) => {
        samples++
        assert.strictEqual(sumOf(at("data")), 200)
        return Number(at("data", "queued")) === 20
      })
      const totals = yield* Effect.forEach(["queued", "sent", "bounced", "failed"], (status) =>
        Effect.map(
          node.request("GET", `/v1/email/batches/${id}/recipients?status=${status}&per_page=1`, { key }),
          ({ at }) => at("meta", "total")
        ))
      assert.deepStrictEqual(totals, [20, 150, 30, 0])
      assert.isTrue(samples > 1)
      yield* node.request("POST", `/v1/email/batches/${id}/cancel`, { key })
    }))

  it.effect("recipients are listed in request order, page by page", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const id = yield* sendBulk(node, key, { ...mail, recipients: people(60, "paged") })
      yield* ended(node, key, id)
      const page = (number: number) =>
        node.request("GET", `/v1/email/batches/${id}/recipients?page=${number}&per_page=25&status=sent`, { key })
      const pages = yield* Effect.forEach([1, 2, 3, 4], page)
      assert.deepStrictEqual(
        pages.flatMap(({ at }) => (at("data") as ReadonlyArray<{ to: string }>).map(({ to }) => to)),
        people(60, "paged").map(({ to }) => to)
      )
      assert.deepStrictEqual(pages[3]?.json, {
        data: [],
        meta: { total: 60, page: 4, per_page: 25, next_cursor: null }
      })
      assert.match(pages[1]?.headers["link"] ?? "", /rel="prev".*rel="next"/)
    }))

  it.effect("a batch whose recipients are all canceled one by one ends as canceled", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const send_at = yield* secondsAhead(3_600)
      const recipients = ["one@people.example", "two@people.example"]
      const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients, send_at })
      const { at } = yield* node.request("GET", `/v1/email/batches/${id}/recipients`, { key })
      for (const index of [0, 1]) {
        const path = `/v1/email/messages/${at("data", index, "id")}/cancel`
        assert.strictEqual((yield* node.request("POST", path, { key })).status, 200)
      }
      yield* sql`update email_batches set send_at = now() where id = ${id}`
      const done = yield* ended(node, key, id)
      assert.deepInclude(done.at("data"), { status: "canceled", total: 2, canceled: 2, failed: 0 })
    }))

  it.effect("cancel stops queued recipients and publishes email.bulk_completed once, even when repeated", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const { receiver, secret } = yield* listen(node, key, ["email.bulk_completed"])
      const id = yield* sendBulk(node, key, {
        ...mail,
        recipients: [...people(290, "slowly"), ...people(10, "defernow")]
      })
      yield* sink.until(({ messages }) => messages.filter(({ to }) => to[0]?.startsWith("slowly")).length >= 20)
      const cancel = node.request("POST", `/v1/email/batches/${id}/cancel`, { key })
      const first = yield* cancel
      assert.strictEqual(first.status, 200)
      assert.strictEqual(first.at("success"), true)
      assert.strictEqual(sumOf(first.at("data")), 300)
      const done = yield* ended(node, key, id)
      const { canceled, sent } = done.at("data") as { sent: number; canceled: number }
      assert.deepInclude(done.at("data"), { status: "canceled", total: 300, queued: 0, failed: 0 })
      assert.strictEqual(sent + canceled, 300)
      assert.isTrue(sent >= 20 && canceled >= 100, `${sent} sent, ${canceled} canceled`)
      assert.strictEqual(sink.messages.filter(({ to }) => to[0]?.startsWith("slowly")).length, sent)
      assert.deepStrictEqual((yield* cancel).at("data"), done.at("data"))
      const [event] = yield* eventsAt(receiver, secret, 1)
      assert.deepInclude(event?.data, { batch_id: id, total: 300, sent, failed: 0, suppressed: 0, canceled })
      assert.strictEqual(receiver.requests.length, 1)
    }))

  it.effect("a batch of another account returns the same 404 as an unknown batch", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const other = yield* makeAccount()
      const id = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: ["own@people.example"] })
      for (const [method, path] of [["GET", ""], ["GET", "/recipients"], ["POST", "/cancel"]] as const) {
        const foreign = yield* node.request(method, `/v1/email/batches/${id}${path}`, { key: other.key })
        const unknown = yield* node.request(method, `/v1/email/batches/email_batch_${"0".repeat(26)}${path}`, { key })
        assert.deepStrictEqual([foreign.status, foreign.at("error", "type")], [404, "not_found"])
        assert.deepStrictEqual(foreign.at("error"), unknown.at("error"))
      }
    }))

  it.effect("invalid input is refused with its field and reason, and nothing is stored or sent", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const other = yield* makeAccount()
      yield* insertDomain(other.accountId, "foreign.example")
      yield* insertDomain(accountId, "pending.example", { status: "pending" })
      const before = sink.connections.total
      const letter = { subject: "s", html: "h", recipients: ["someone@people.example"] }
      const to = (address: string) => ({ ...letter, recipients: ["fine@people.example", { to: address }] })
      const refused: ReadonlyArray<readonly [unknown, type: string, param: string, message: RegExp]> = [
        [{ ...letter, recipients: people(501) }, "validation_error", "recipients", /at most 500/],
        [{ ...letter, recipients: [] }, "validation_error", "recipients", /at least one/],
        [{ ...letter, recipients: "a@b.example" }, "validation_error", "recipients", /./],
        [to("a@b.example\r\nRCPT TO:<c@d.example>"), "validation_error", "recipients[1].to", /line breaks/],
        [to("a@b.example,c@d.example"), "validation_error", "recipients[1].to", /one address/],
        [to("a@b.example c@d.example"), "validation_error", "recipients[1].to", /spaces|more than one/],
        [to("Ann <a@b.example, c@d.example>"), "validation_error", "recipients[1].to", /./],
        [to("someone"), "validation_error", "recipients[1].to", /no @/],
        [to("someone@"), "validation_error", "recipients[1].to", /after the @/],
        [{ ...letter, subject: "   " }, "validation_error", "subject", /must not be blank/],
        [{ ...letter, subject: "Hi {{name" }, "validation_error", "subject", /./],
        [{ ...letter, html: "<p>{{ 1+1 }}</p>" }, "validation_error", "html", /./],
        [{ ...letter, text: "{{a}} {{b" }, "validation_error", "text", /./],
        [
          {
            ...letter,
            html: "{{name}} {{place}}",
            recipients: [{ to: "a@b.example", variables: { name: "x", place: "y" } }, {
              to: "c@d.example",
              variables: { name: "x" }
            }]
          },
          "validation_error",
          "recipients[1].variables",
          /place/
        ],
        [{ ...letter, html: "{{__proto__}}" }, "validation_error", "html", /__proto__/],
        [{ ...letter, subject: "s\r\nBcc: x@y.example" }, "validation_error", "subject", /line breaks/],
        [{ ...letter, from_name: "Ann\r\nBcc: x@y.example" }, "validation_error", "from_name", /line breaks/],
        [{ ...letter, from_name: "Ann\u0000" }, "validation_error", "from_name", /./],
        [{ ...letter, html: "a\u0000b" }, "validation_error", "html", /NUL/],
        [{ ...letter, html: "\ud800" }, "validation_error", "html", /Unicode/],
        [{ ...letter, html: undefined }, "validation_error", "html", /./],
        [{ ...letter, subject: 7 }, "validation_error", "subject", /./],
        [{ ...letter, from: "us@foreign.example" }, "invalid_from_domain", "from", /foreign\.example/],
        [{ ...letter, from: "us@pending.example" }, "invalid_from_domain", "from", /pending\.example/],
        [{ ...letter, from: "us@nobody.example" }, "invalid_from_domain", "from", /nobody\.example/],
        [{ ...letter, from: "us@nobody.example\r\nBcc: x@y.example" }, "validation_error", "from", /line breaks/]
      ]
      for (const [json, type, param, message] of refused) {
        const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
        const what = `${answer.text} for ${JSON.stringify(json).slice(0, 200)}`
        assert.deepStrictEqual([answer.status, answer.at("error", "type"), answer.at("error", "param")], [
          422,
          type,
          param
        ], what)
        const reported = answer.at("error", "errors", 0, "message") ?? answer.at("error", "message")
        assert.match(String(reported), message, what)
      }
      const malformed = yield* node.request("POST", "/v1/email/send-bulk", { key, body: `{"recipients": [` })
      assert.deepStrictEqual([malformed.status, malformed.at("error", "code")], [400, 4000])
      const stored = yield* sql`select (select count(*) from email_batches where account_id = ${accountId}) as batches,
        (select count(*) from email_messages where account_id = ${accountId}) as messages`
      assert.deepStrictEqual(stored, [{ batches: 0, messages: 0 }])
      assert.strictEqual(sink.connections.total, before)
      assert.isFalse(sink.messages.some(({ to }) => to.includes("fine@people.example")))
    }))

  it.effect("missing variables are reported for each recipient by index", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const answer = yield* node.request("POST", "/v1/email/send-bulk", {
        key,
        json: {
          subject: "{{a}}",
          html: "{{b.c}}{{d|x}}",
          recipients: [
            { to: "a@b.example", variables: { a: 1 } },
            { to: "a@b.example", variables: { a: 1, b: { c: null } } },
            "c@b.example"
          ]
        }
      })
      assert.strictEqual(answer.status, 422)
      const errors = answer.at("error", "errors") as ReadonlyArray<{ param: string; message: string }>
      assert.includeMembers(errors.map(({ param }) => param), ["recipients[0].variables", "recipients[2].variables"])
      assert.match(errors.at(-1)?.message ?? "", /a.*b\.c/)
    }))
})
