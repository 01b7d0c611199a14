import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { ended, insertDomain, sendBulk } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"

const mail = { to: "ada@people.example", subject: "s", text: "t" }

const MiB = 1024 * 1024

const file = (bytes: number) => ({ filename: "f.bin", content: Buffer.alloc(bytes).toString("base64") })

/** Why it is refused, the body, the parameter named, and part of the message. */
const refused: ReadonlyArray<readonly [what: string, body: Record<string, unknown>, param: string, says: RegExp]> = [
  ["no recipient", { to: [] }, "to", /at least one recipient/],
  ["51 recipients", { to: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) }, "to", /at most 50 addresses/],
  [
    "51 recipients in bcc",
    { bcc: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) },
    "bcc",
    /at most 50 addresses/
  ],
  ["two addresses in one string", { to: "a@b.example, c@d.example" }, "to", /one address/],
  ["two addresses in one entry", { to: ["a@b.example,c@d.example"] }, "to[0]", /one address/],
  ["an SMTP command in an address", { to: "a@b.example>\r\nRCPT TO:<c@d.example" }, "to", /line breaks/],
  ["two display names in one string", { cc: ["Ann <a@b.example>, Bob <b@b.example>"] }, "cc[0]", /double quotes/],
  ["a display name with a line break", { cc: ["Ann\r\nBcc: x <a@b.example>"] }, "cc[0]", /line breaks/],
  ["a recipient without an @", { to: "nobody" }, "to", /has no @/],
  ["a number as recipient", { to: 7 }, "to", /must be/],
  ["a sender without an @", { from: "nope" }, "from", /has no @/],
  [
    "an overlong display name of the sender",
    { from: `${"n".repeat(201)} <a@b.example>` },
    "from",
    /display name: it must have/
  ],
  ["a reply_to without an @", { reply_to: "Help <help>" }, "reply_to", /has no @/],
  ["a Bcc field in reply_to", { reply_to: "a@b.example\r\nBcc: c@d.example" }, "reply_to", /line breaks/],
  ["a Bcc field in the subject", { subject: "s\r\nBcc: c@d.example" }, "subject", /line breaks/],
  ["a Bcc field in the sender's name", { from_name: "x\r\nBcc: c@d.example" }, "from_name", /line breaks/],
  ["a blank subject", { subject: " \u00a0 " }, "subject", /must not be blank/],
  ["a blank sender's name", { from_name: "  " }, "from_name", /must not be blank/],
  [
    "a blank file name",
    { attachments: [{ ...file(1), filename: " " }] },
    "attachments[0].filename",
    /must not be blank/
  ],
  ["no subject", { subject: undefined }, "subject", /is required/],
  ["no text", { text: undefined }, "html", /is required unless text or template_id/],
  ["a text beside a template", { template_id: 1 }, "text", /left out when template_id/],
  ["an unclosed placeholder", { text: "Hello {{name" }, "text", /./],
  ["a missing value", { text: "Hello {{name}}" }, "variables", /must have a value for name/],
  ["an overlong HTML", { html: "x".repeat(5_000_001) }, "html", /at most 5000000 characters/],
  [
    "a text that its value makes too large",
    { text: "{{x}}".repeat(1_000), variables: { x: "x".repeat(MiB) } },
    "text",
    /bytes with its values/
  ],
  [
    "an HTML that escaping makes too large",
    { html: "{{x}}".repeat(9), variables: { x: "&".repeat(MiB) } },
    "html",
    /bytes with its values/
  ],
  [
    "a subject that its value makes too long",
    { subject: "{{x}}", variables: { x: "x".repeat(2001) } },
    "subject",
    /at most 2000 characters with its values/
  ],
  ["eleven files", { attachments: Array.from({ length: 11 }, () => file(1)) }, "attachments", /at most 10 files/],
  [
    "more than 7 MiB of attachments",
    { attachments: [file(4 * MiB), file(3 * MiB + 1)] },
    "attachments",
    /at most 7 MiB/
  ],
  [
    "invalid base64",
    { attachments: [{ ...file(1), content: "no base64!" }] },
    "attachments[0].content",
    /must be base64/
  ],
  ["truncated base64", { attachments: [{ ...file(1), content: "QUJ" }] }, "attachments[0].content", /must be base64/],
  [
    "a path in place of an attachment",
    { attachments: [{ path: "/etc/hostname" }] },
    "attachments[0].filename",
    /is required/
  ],
  [
    "a path beside a file name",
    { attachments: [{ filename: "hostname", path: "/etc/hostname", href: "file:///etc/hostname" }] },
    "attachments[0].content",
    /is required/
  ],
  [
    "an object as attachment content",
    { attachments: [{ ...file(1), content: { path: "/etc/hostname" } }] },
    "attachments[0].content",
    /must be/
  ],
  ["a path as HTML", { html: { path: "/etc/hostname" } }, "html", /must be/],
  [
    "a header field in a media type",
    { attachments: [{ ...file(1), content_type: "text/plain\r\nX: y" }] },
    "attachments[0].content_type",
    /./
  ]
]

layer(Relay.layer(), { excludeTestServices: true })("email history", (it) => {
  for (const [what, body, param, says] of refused) {
    it.effect(`an email with ${what} is refused with 422 and leaves no record`, () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const answer = yield* node.request("POST", "/v1/email/send", { key, json: { ...mail, ...body } })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param, answer.text)
        assert.match(String(answer.at("error", "errors", 0, "message")), says)
        const list = yield* node.request("GET", "/v1/email/messages", { key })
        assert.deepStrictEqual([list.at("data"), list.at("meta", "total")], [[], 0])
      }))
  }

  it.effect("an unverified domain, an unknown template or an expired trial is refused", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const other = yield* makeAccount()
      yield* insertDomain(accountId, "waiting.example", { status: "pending" })
      yield* insertDomain(other.accountId, "theirs.example")
      const ask = (body: object) => node.request("POST", "/v1/email/send", { key, json: { ...mail, ...body } })
      for (const domain of ["waiting.example", "theirs.example", "unknown.example", "sub.theirs.example"]) {
        assertRefused(yield* ask({ from: `us@${domain}` }), 422, "invalid_from_domain")
      }
      const json = { name: "t", subject: "s", html: "h" }
      const theirs = yield* node.request("POST", "/v1/email/templates", { key: other.key, json })
      for (const template_id of ["tmpl_01ARZ3NDEKTSV4RRFFQ69G5FAV", theirs.at("data", "id"), 4_000_000, "x"]) {
        const answer = yield* ask({ text: undefined, template_id })
        assertRefused(answer, 404, "not_found")
        assert.strictEqual(answer.at("error", "param"), "template_id")
      }
      yield* sql`update accounts set trial_ends_at = now() - interval '1 day' where id = ${accountId}`
      assertRefused(yield* ask({}), 402, "subscription_expired")
      assert.strictEqual((yield* node.request("GET", "/v1/email/messages", { key })).status, 200)
    }))

  it.effect("a repeated request with one Idempotency-Key returns the same answer and sends the email once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { key } = yield* makeAccount()
      const json = { ...mail, to: "once@people.example" }
      const ask = node.request("POST", "/v1/email/send", { key, json, headers: { "idempotency-key": "receipt-1" } })
      const answers = [yield* ask, yield* ask]
      assert.deepStrictEqual(answers.map(({ status }) => status), [202, 202])
      assert.strictEqual(answers[0]?.text, answers[1]?.text)
      assert.strictEqual(answers[1]?.headers["idempotency-replayed"], "true")
      yield* reaching(node, { id: Number(answers[0]?.at("data", "id")), key, statuses: ["sent"] })
      assert.strictEqual(sink.attempts.get("once@people.example"), 1)
      const list = yield* node.request("GET", "/v1/email/history", { key })
      assert.strictEqual(list.at("meta", "total"), 1)
    }))

  it.effect("an email is found by its address in Unicode or A-labels and in any letter case", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const id = yield* sendEmail(node, key, { ...mail, to: "Ann@b\u00fccher.example" })
      for (const to of ["ann@b\u00fccher.example", "ANN@B\u00dcCHER.EXAMPLE.", "ann@xn--bcher-kva.example"]) {
        for (const path of ["messages", "history"]) {
          const list = yield* node.request("GET", `/v1/email/${path}?to=${encodeURIComponent(to)}`, { key })
          assert.deepStrictEqual([list.at("data", 0, "id"), list.at("meta", "total")], [id, 1], `${path} ${to}`)
        }
      }
    }))

  it.effect("emails and batch recipients are listed newest or oldest first and found by every filter", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const first = yield* sendEmail(node, key, { ...mail, to: "Listed-a@people.example" })
      const batch = yield* sendBulk(node, key, {
        subject: "Hi {{n}}",
        html: "h",
        recipients: [{ to: "listed-b@people.example", variables: { n: 1 } }, {
          to: "bounce-listed@people.example",
          variables: { n: 2 }
        }]
      })
      yield* ended(node, key, batch)
      const several = yield* sendEmail(node, key, {
        ...mail,
        to: ["listed-c@people.example", "listed-d@people.example"],
        bcc: "bounce-hidden@people.example"
      })
      yield* reaching(node, { id: first, key, statuses: ["sent"] })
      yield* reaching(node, { id: several, key, statuses: ["sent"] })
      const list = (query: string) =>
        Effect.map(node.request("GET", `/v1/email/messages${query}`, { key }), (answer) => ({
          ...answer,
          rows: answer.at("data") as ReadonlyArray<Record<string, unknown>>
        }))
      const all = yield* list("")
      assert.deepStrictEqual(all.rows.map(({ batch_id, status, subject, to }) => [to, subject, status, batch_id]), [
        [["listed-c@people.example", "listed-d@people.example"], "s", "sent", null],
        ["bounce-listed@people.example", "Hi 2", "bounced", batch],
        ["listed-b@people.example", "Hi 1", "sent", batch],
        ["Listed-a@people.example", "s", "sent", null]
      ])
      assert.isTrue(all.rows.every(({ from }) => from === "no-reply@localhost.localdomain"))
      const ids = all.rows.map(({ id }) => id)
      assert.deepStrictEqual([ids[0], ids[3]], [several, first])
      yield* sql`update email_messages set created_at = '2026-01-02T03:04:05Z' where id = ${first}`
      const found: ReadonlyArray<readonly [query: string, places: ReadonlyArray<number>]> = [
        ["?status=bounced", [1]],
        ["?status=sent", [0, 2, 3]],
        ["?status=queued", []],
        ["?to=listed-A@people.example", [3]],
        ["?to=listed-d@people.example", [0]],
        ["?to=bounce-hidden@people.example", [0]],
        [`?batch_id=${batch}`, [1, 2]],
        [`?batch_id=${batch}&status=sent`, [2]],
        ["?to_date=2026-01-02T03:04:05Z", []],
        ["?to_date=2026-01-02T03:04:06Z", [3]],
        ["?from_date=2026-01-02T03:04:05Z", [0, 1, 2, 3]],
        ["?from_date=2026-01-02T03:04:06Z", [0, 1, 2]],
        ["?per_page=2&page=2", [2, 3]],
        ["?sort=-created_at", [0, 1, 2, 3]],
        ["?sort=created_at", [3, 2, 1, 0]],
        ["?sort=created_at&per_page=3&page=2", [0]],
        ["?per_page=2&page=9", []]
      ]
      for (const [query, places] of found) {
        const { rows } = yield* list(query)
        assert.deepStrictEqual(rows.map(({ id }) => id), places.map((place) => ids[place]), query)
      }
      const page = yield* list("?per_page=1&status=sent")
      assert.deepInclude(Object(page.at("meta")), { total: 3, page: 1, per_page: 1 })
      assert.include(page.headers["link"], "rel=\"next\"")
      const history = yield* node.request("GET", "/v1/email/history?status=bounced", { key })
      assert.deepStrictEqual(history.at("data", 0, "id"), ids[1])
      for (const id of ids) {
        const one = yield* node.request("GET", `/v1/email/messages/${String(id)}`, { key })
        const status = yield* node.request("GET", `/v1/email/status/${String(id)}`, { key })
        assert.deepStrictEqual(one.json, status.json)
        const { internet_message_id, recipients, ...record } = Object(one.at("data"))
        assert.match(internet_message_id, /^<[^@<>\s]+@[^@<>\s]+>$/)
        if (id !== first) assert.deepStrictEqual(record, all.rows.find((row) => row["id"] === id))
        assert.strictEqual(recipients.length, id === several ? 3 : 1)
      }
      for (
        const query of [
          "?status=lost",
          "?sort=to",
          "?from_date=yesterday",
          "?batch_id=7",
          "?page=0",
          "?per_page=101",
          "?to=%00",
          "?to=ann"
        ]
      ) {
        assertRefused(yield* list(query), 422, "validation_error")
      }
      assert.include((yield* list("?batch_id=7")).text, "must be the id of an email batch, such as email_batch_01")
      // The other recipients' rows are not emails themselves.
      for (const id of [several + 1, several + 2]) {
        assertRefused(yield* node.request("GET", `/v1/email/messages/${id}`, { key }), 404, "not_found")
      }
      const stranger = yield* makeAccount()
      const theirs = yield* node.request("GET", "/v1/email/messages", { key: stranger.key })
      assert.deepStrictEqual(theirs.at("data"), [])
      assertRefused(
        yield* node.request("GET", `/v1/email/messages/${first}`, { key: stranger.key }),
        404,
        "not_found"
      )
    }))
})
