import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { conditionsOf } from "../../../src/sandbox/mail/MailFilter.ts"
import { SandboxInbox } from "../../../src/sandbox/mail/SandboxInbox.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const raw = (subject: string, from = "Ann <ann@sender.example>") =>
  Buffer.from(`From: ${from}\r\nSubject: ${subject}\r\n\r\nbody\u00ff\u0000\r\n`, "latin1")

const open = (options: Parameters<typeof SandboxInbox.layer>[0] = {}) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`truncate sandbox_mails`
    const context = yield* Layer.build(SandboxInbox.layer(options))
    return Context.get(context, SandboxInbox)
  })

const none = { to: "", from: "", subject: "", q: "" }

const page = { page: 1, per_page: 50 }

layer(TestDatabase.layer)("sandbox inbox in SQL", (it) => {
  describe("SandboxInbox", () => {
    it.effect("a mail is stored byte for byte, once for each recipient", () =>
      Effect.gen(function*() {
        const inbox = yield* open()
        const bytes = raw("=?utf-8?q?Gr=C3=BC=C3=9Fe?=")
        yield* inbox.add({
          account: null,
          envelopeFrom: "b+1@sender.example",
          recipients: ["a@x.example", "b@x.example"],
          raw: bytes
        })
        const { rows, total } = yield* inbox.list(page)
        assert.strictEqual(total, 2)
        assert.deepStrictEqual(rows.map(({ from, subject, to }) => [from, to, subject]), [
          ["Ann <ann@sender.example>", "b@x.example", "Gr\u00fc\u00dfe"],
          ["Ann <ann@sender.example>", "a@x.example", "Gr\u00fc\u00dfe"]
        ])
        const mail = Option.getOrThrow(yield* inbox.get(rows[0]?.id ?? 0))
        assert.strictEqual(mail.envelope_from, "b+1@sender.example")
        assert.isTrue(bytes.equals(mail.raw))
        assert.match(mail.received_at, /^\d{4}-.*\.\d{6}Z$/)
        assert.isTrue(Option.isNone(yield* inbox.get(0)))
      }))

    it.effect("messages with unreadable headers are stored", () =>
      Effect.gen(function*() {
        const inbox = yield* open()
        const odd = [
          "",
          "\u0000\u0001",
          "Subject: \u0000nul\r\n\r\n",
          `Subject: ${"x".repeat(5_000)}\r\n\r\n`,
          ":::\r\r\r"
        ]
        yield* Effect.forEach(odd, (text) =>
          inbox.add({ account: null, envelopeFrom: "", recipients: ["a@x.example"], raw: Buffer.from(text) }))
        assert.strictEqual((yield* inbox.list(page)).total, odd.length)
      }))

    it.effect("search matches a whole address or a part of one, and pages are newest first", () =>
      Effect.gen(function*() {
        const inbox = yield* open()
        const recipients = ["ann@x.example", "Joann@x.example", "bob@y.example", "100%@y.example"]
        for (const to of recipients) {
          yield* inbox.add({ account: null, envelopeFrom: "", recipients: [to], raw: raw(to) })
        }
        const search = (to: string) =>
          Effect.map(
            inbox.list({ ...page, conditions: conditionsOf({ ...none, to }) }),
            ({ rows }) => rows.map((row) => row.to)
          )
        assert.deepStrictEqual(yield* search("ann@x.example"), ["ann@x.example"])
        assert.deepStrictEqual(yield* search("ANN"), ["Joann@x.example", "ann@x.example"])
        assert.deepStrictEqual(yield* search("%"), ["100%@y.example"])
        assert.deepStrictEqual(yield* search(""), [...recipients].reverse())
        const second = yield* inbox.list({ page: 2, per_page: 3 })
        assert.deepStrictEqual(second.rows.map(({ to }) => to), ["ann@x.example"])
        assert.strictEqual(second.total, 4)
      }))

    it.effect("a search finds words in every part of a mail, and deletes what it finds", () =>
      Effect.gen(function*() {
        const inbox = yield* open()
        const parts = [
          "From: =?utf-8?q?Caf=C3=A9?= <news@cafe.example>",
          "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
          "X-Order: 1042",
          "Content-Type: multipart/mixed; boundary=b",
          "",
          "--b",
          "Content-Type: text/html; charset=utf-8",
          "",
          "<p>Your <b>parcel</b> is <i>late</i></p>",
          "--b",
          "Content-Type: text/plain; name=note.txt",
          "Content-Disposition: attachment; filename=note.txt",
          "",
          "attached",
          "--b--",
          ""
        ]
        yield* inbox.add({
          account: null,
          envelopeFrom: "",
          recipients: ["a@x.example"],
          raw: Buffer.from(parts.join("\r\n"))
        })
        yield* inbox.add({ account: null, envelopeFrom: "", recipients: ["b@x.example"], raw: raw("Other") })
        const found = (q: string) =>
          Effect.map(inbox.list({ ...page, conditions: conditionsOf({ ...none, q }) }), ({ rows }) =>
            rows.map(({ to }) => to).join())
        for (
          const q of [
            "CAF\u00c9",
            "gr\u00fc\u00dfe",
            "x-order 1042",
            "parcel late",
            "has:attachment",
            "from:cafe",
            "a@x"
          ]
        ) {
          assert.strictEqual(yield* found(q), "a@x.example", q)
        }
        for (const q of ["parcel other", "subject:parcel", "to:cafe", "is:read"]) {
          assert.strictEqual(yield* found(q), "", q)
        }
        const { rows: [first] } = yield* inbox.list(page)
        yield* inbox.markRead(first?.id ?? 0)
        assert.strictEqual(yield* found("is:read"), "b@x.example")
        assert.strictEqual((yield* inbox.list(page)).unread, 1)
        assert.strictEqual(yield* inbox.removeAll(conditionsOf({ ...none, q: "parcel" })), 1)
        assert.strictEqual(yield* found(""), "b@x.example")
        assert.isTrue(yield* inbox.remove(first?.id ?? 0))
        assert.isFalse(yield* inbox.remove(first?.id ?? 0))
      }))

    it.effect("messages that arrive together share inserts, and only the newest are kept", () =>
      Effect.gen(function*() {
        const inbox = yield* open({ keep: 100 })
        const sql = yield* SqlClient.SqlClient
        const adds = Array.from(
          { length: 240 },
          (_, n) =>
            inbox.add({ account: null, envelopeFrom: "", recipients: [`u${n}@x.example`], raw: raw(`mail ${n}`) })
        )
        yield* Effect.all(adds, { concurrency: "unbounded", discard: true })
        const [inserts] = yield* sql`select count(distinct xmin::text) as n from sandbox_mails`
        assert.isAtMost(Number(inserts?.["n"]), 6)
        const { rows, total } = yield* inbox.list({ page: 1, per_page: 100 })
        assert.isAtLeast(total, 100)
        assert.isAtMost(total, 105 + 50)
        assert.strictEqual(rows.length, 100)
      }))

    it.effect("the oldest mails go above the bytes of an account, and above those of all", () =>
      Effect.gen(function*() {
        const inbox = yield* open({ bytes: { share: 10_000, total: 30_000 } })
        const add = (account: number | null, to: string) =>
          inbox.add({
            account: account === null ? null : AccountId.make(account),
            envelopeFrom: "",
            recipients: [to],
            raw: Buffer.alloc(4_000, `Subject: ${to}\r\n\r\n`)
          })
        const kept = Effect.map(inbox.list(page), ({ rows }) => rows.map(({ to }) => to).reverse().join(" "))
        for (const to of ["a1", "a2", "a3"]) yield* add(-1, to)
        assert.strictEqual(yield* kept, "a2 a3")
        for (const to of ["b1", "b2"]) yield* add(-2, to)
        for (const to of ["n1", "n2", "n3"]) yield* add(null, to)
        assert.strictEqual(yield* kept, "a2 a3 b1 b2 n1 n2 n3")
        yield* add(-2, "b3")
        // Only seven of the eight fit, the one of the account that has its share among them.
        assert.strictEqual(yield* kept, "a3 b2 n1 n2 n3 b3")
        for (const to of ["n4", "n5"]) yield* add(null, to)
        assert.strictEqual(yield* kept, "b2 n1 n2 n3 b3 n4 n5")
      }))
  })
})
