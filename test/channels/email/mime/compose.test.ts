import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import PostalMime from "postal-mime"
import { compose, type Letter, prepare, type Sender } from "../../../../src/channels/email/mime/compose.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"

const sender: Sender = { from: { name: "Example", address: EmailAddress.make("news@example.com") } }

const letter: Letter = {
  to: EmailAddress.make("ana@example.net"),
  subject: "Hello",
  messageId: "01@example.com",
  date: 1_700_000_000_000
}

const source = (mail: Partial<Sender & Letter>) => compose({ ...sender, ...letter, ...mail }).toString("latin1")

const parsed = (mail: Partial<Sender & Letter>) =>
  Effect.promise(() => PostalMime.parse(compose({ ...sender, ...letter, ...mail })))

const unfold = (text: string) => text.replaceAll(/\r\n(?=[ \t])/g, "")

const header = (mail: Partial<Sender & Letter>) => unfold(source(mail).split("\r\n\r\n")[0] ?? "").split("\r\n")

const fieldNames = (mail: Partial<Sender & Letter>) => header(mail).map((field) => field.slice(0, field.indexOf(":")))

/** Normalizes line ends as a parser does, and lone surrogates as UTF-8 does. */
const normal = (text: string) => text.toWellFormed().replaceAll(/\r\n?/g, "\n")

/** Replaces control characters with spaces, as all header values do. */
// oxlint-disable-next-line no-control-regex -- it replaces control characters
const visible = (text: string) => text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f]/g, " ")

const syntax = [
  "a",
  "Ana ",
  " ",
  "  ",
  ".",
  "\n.\n",
  "=",
  "=3D",
  "=?UTF-8?Q?a?=",
  "--=_alternative",
  "\"",
  "\\",
  "<b>",
  ",",
  ";"
]
const control = ["\t", "\r\n", "\n", "\r", "\0", "\u007f", "\r\nBcc: evil@x.example\r\n\r\n"]
const unicode = ["é", "日本", "😀", "👨‍👩‍👧", "\ud83d", "\udc00", "\u2028", "\u0085"]
const long = ["w".repeat(80), "ü".repeat(100), "x".repeat(1_100)]

const hostile = Schema.Array(Schema.Literals([...syntax, ...control, ...unicode, ...long]))

const line = (parts: ReadonlyArray<string>) => parts.join("").slice(0, 3_000)

describe("a composed message", () => {
  it("has exactly these fields, in a multipart/alternative with the text first", () => {
    assert.strictEqual(
      source({
        html: "<p>Ünï</p>",
        text: "Plain",
        replyTo: { address: EmailAddress.make("help@example.com") },
        feedbackId: "batch:account:bulk:service",
        listUnsubscribe: { url: "https://msg.example/u/token", mailto: "u@example.com?subject=stop" }
      }),
      [
        "From: \"Example\" <news@example.com>",
        "Reply-To: help@example.com",
        "Feedback-ID: batch:account:bulk:service",
        "MIME-Version: 1.0",
        "To: ana@example.net",
        "Subject: Hello",
        "Message-ID: <01@example.com>",
        "Date: Tue, 14 Nov 2023 22:13:20 +0000",
        "List-Unsubscribe: <https://msg.example/u/token>,",
        " <mailto:u@example.com?subject=stop>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "Content-Type: multipart/alternative; boundary=\"=_alternative\"",
        "",
        "--=_alternative",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Plain",
        "--=_alternative",
        "Content-Type: text/html; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "<p>=C3=9Cn=C3=AF</p>",
        "--=_alternative--",
        ""
      ].join("\r\n")
    )
  })

  it("is a single part if there is one text, and an empty part if there is none", () => {
    assert.include(source({ text: "a" }), "Content-Type: text/plain; charset=utf-8\r\n")
    assert.include(source({ html: "a" }), "Content-Type: text/html; charset=utf-8\r\n")
    assert.isTrue(source({}).endsWith("quoted-printable\r\n\r\n\r\n"))
  })

  it("has several recipients in To and Cc, folded", () => {
    const many = Array.from({ length: 50 }, (_, index) => EmailAddress.make(`recipient-${index}@example.net`))
    const fields = header({ to: many, cc: many })
    assert.include(fields, `To: ${many.join(", ")}`)
    assert.include(fields, `Cc: ${many.join(", ")}`)
    assert.isTrue(source({ to: many }).split("\r\n").every((text) => text.length <= 78))
  })

  it("accepts a message id with or without brackets", () => {
    assert.include(header({ messageId: "<a@example.com>" }), "Message-ID: <a@example.com>")
  })

  it("has the sender's further fields, except those that the composer or a relay sets", () => {
    const names = [
      "Bcc",
      "bcc",
      "To",
      "Sender",
      "Received",
      "Resent-To",
      "DKIM-Signature",
      "Content-Type",
      "X-Bad Name",
      "X:Y",
      "Ü",
      ""
    ]
    const headers = Object.fromEntries([...names, "X-Batch", "List-Id", "Auto-Submitted"].map((name) => [name, "v"]))
    assert.deepStrictEqual(fieldNames({ headers }).filter((name) => !fieldNames({}).includes(name)), [
      "X-Batch",
      "List-Id",
      "Auto-Submitted"
    ])
    assert.strictEqual(fieldNames({ headers }).length, fieldNames({}).length + 3)
  })

  it("keeps the words of fields that programs read, also beside a tab, and of up to 900 characters", () => {
    const ids = ["a", "b"].map((name) => `<${name.repeat(70)}@example.com>`)
    const feedbackId = `email_batch_${"1".repeat(26)}:1000000:bulk:messaging`
    const words = ["a".repeat(900), "b".repeat(90)].join(" ")
    const fields = header({ headers: { References: ids.join("\t"), "X-Words": words }, feedbackId })
    assert.include(fields, `References: ${ids.join(" ")}`)
    assert.include(fields, `Feedback-ID: ${feedbackId}`)
    assert.include(fields, `X-Words: ${words}`)
  })

  it("has the same bytes each time, also from a prepared sender", () => {
    const write = prepare(sender)
    assert.isTrue(write(letter).equals(compose({ ...sender, ...letter })))
    assert.isTrue(write(letter).equals(write(letter)))
  })

  it("is complete if its texts exceed the shared buffer", () => {
    const text = "é".repeat(1_000_000)
    const encoded = source({ text, html: "x" })
    assert.strictEqual(encoded.match(/=C3/g)?.length, 1_000_000)
  })

  it.effect("has any date in the form of RFC 5322", () =>
    Effect.gen(function*() {
      for (const date of [0, 1_700_000_000_999, 4_102_444_800_000]) {
        const written = (yield* parsed({ date })).date
        assert.strictEqual(written, new Date(Math.floor(date / 1_000) * 1_000).toISOString())
      }
    }))
})

describe("a parser", () => {
  it.effect.prop(
    "returns the same texts",
    { html: hostile, text: hostile },
    ({ html, text }) =>
      Effect.gen(function*() {
        const email = yield* parsed({ html: html.join(""), text: text.join("") })
        assert.strictEqual(email.text?.replace(/\n$/, ""), normal(text.join("")))
        assert.strictEqual(email.html?.replace(/\n$/, ""), normal(html.join("")))
        assert.strictEqual(email.attachments.length, 0)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "returns the same subject, with its spaces",
    { parts: hostile },
    ({ parts }) =>
      Effect.gen(function*() {
        const subject = line(parts)
        const wanted = visible(subject)
        assert.strictEqual((yield* parsed({ subject })).subject ?? "", wanted)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop("returns the same mailboxes and names", { parts: hostile }, ({ parts }) =>
    Effect.gen(function*() {
      const name = line(parts)
      const mailbox = { name, address: EmailAddress.make("a.b@example.com") }
      const email = yield* parsed({ from: mailbox, replyTo: mailbox })
      const wanted = visible(name).trim()
      for (const read of [email.from, ...email.replyTo ?? []]) {
        assert.strictEqual(read?.address, "a.b@example.com")
        assert.strictEqual(read?.name.trim(), wanted)
      }
    }), { arbitrary: { runs: 200 } })

  it.effect.prop(
    "returns the same attachments",
    { name: hostile, content: Schema.Uint8Array, type: hostile },
    (input) =>
      Effect.gen(function*() {
        // The parser also decodes encoded words in file names, where they have no meaning.
        const filename = `${line(input.name).replaceAll("=?", "")}.bin`
        const file = { filename, content: input.content, content_type: `text/${line(input.type)}` }
        const email = yield* parsed({ text: "t", html: "h", attachments: [file, file] })
        assert.strictEqual(email.text?.trim(), "t")
        assert.strictEqual(email.html?.trim(), "h")
        assert.strictEqual(email.attachments.length, 2)
        for (const read of email.attachments) {
          // oxlint-disable-next-line no-control-regex -- it replaces control characters
          assert.strictEqual(read.filename, filename.toWellFormed().replaceAll(/[\u0000-\u001f\u007f\\]/g, "_"))
          assert.deepStrictEqual(new Uint8Array(read.content as ArrayBuffer), new Uint8Array(input.content))
        }
      })
  )
})

describe("hostile values", () => {
  const values = { a: hostile, b: hostile, c: hostile }
  const mail = ({ a, b, c }: { readonly [K in keyof typeof values]: typeof hostile.Type }) => ({
    from: { name: line(a), address: EmailAddress.make("a@example.com", { disableChecks: true }) },
    to: EmailAddress.make(line(b), { disableChecks: true }),
    subject: line(c),
    html: a.join(""),
    text: b.join(""),
    messageId: line(a),
    feedbackId: line(b),
    listUnsubscribe: { url: line(c), mailto: line(a) },
    headers: { "X-Value": line(b) }
  })

  it.prop("add no field", values, (input) => {
    assert.deepStrictEqual(fieldNames(mail(input)), [
      "From",
      "Feedback-ID",
      "X-Value",
      "MIME-Version",
      "To",
      "Subject",
      "Message-ID",
      "Date",
      "List-Unsubscribe",
      "List-Unsubscribe-Post",
      "Content-Type"
    ])
  }, { arbitrary: { runs: 200 } })

  it.prop("leave lines 7 bit, with CRLF and at most 998 characters, 76 in the body", values, (input) => {
    const message = source(mail(input))
    assert.match(message, /^[\t\r\n -~]*$/)
    assert.notMatch(message, /[^\r]\n|\r[^\n]/)
    const [head = "", ...body] = message.split("\r\n\r\n")
    assert.isTrue(head.split("\r\n").every((text) => text.length <= 998 && text.trim() !== ""))
    assert.isTrue(body.join("\r\n\r\n").split("\r\n").every((text) => text.length <= 76 && !/[ \t]$/.test(text)))
  }, { arbitrary: { runs: 200 } })

  it.prop("leave free text folded at 78 characters", { parts: hostile }, ({ parts }) => {
    const head = source({ subject: line(parts), from: { name: line(parts), address: EmailAddress.make("a@b.test") } })
    assert.isTrue(head.split("\r\n").every((text) => text.length <= 78))
  })
})
