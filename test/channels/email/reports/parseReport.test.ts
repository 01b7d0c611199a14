import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { parseFields, parseReport, readDeliveryStatus } from "../../../../src/channels/email/reports/parseReport.ts"
import { meaningFor } from "../../../../src/channels/email/reports/Report.ts"
import type { Suppress } from "../../../../src/channels/email/smtp/SmtpReply.ts"
import {
  arf,
  autoReply,
  type DeliveryOptions,
  exchangeDsn,
  gmailDsn,
  postfixDsn,
  type ReportedMail,
  yahooDsn
} from "../../../support/reports.ts"

const to = "Ada+shop@people.example"
const mail: ReportedMail = { returnPath: "b+token@bounces.example", to }

/** Parses a report and returns its meaning for the message's recipient. */
const meaning = (raw: Uint8Array) => {
  const report = parseReport(raw)
  return report._tag === "Delivery" ? meaningFor(report.recipients, to) : report._tag
}

const shapes = { postfixDsn, exchangeDsn, gmailDsn, yahooDsn }

describe("a delivery report", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    const of = (options?: DeliveryOptions) => meaning(shape(mail, options))

    it(`in the shape of ${name} reports a mailbox that does not exist`, () => {
      const told = of({ diagnostic: "smtp; 550 5.1.1 No such user here" })
      assert.deepStrictEqual(told, {
        status: "bounced",
        bounceType: "hard",
        error: "550 5.1.1 No such user here",
        suppress: "now"
      })
    })

    it(`in the shape of ${name} reports a delivery, and nothing while the mail is in flight`, () => {
      const fine = { status: "2.0.0", diagnostic: "smtp; 250 2.0.0 Ok" }
      assert.deepStrictEqual(of({ ...fine, action: "delivered" }), { status: "delivered" })
      for (const action of ["relayed", "expanded", "unheard-of"]) {
        assert.isUndefined(of({ ...fine, action }), action)
      }
      const delay = { action: "delayed", status: "4.4.1", diagnostic: "smtp; 451 4.4.1 try again" }
      assert.deepStrictEqual(of(delay), { status: "delayed", error: "451 4.4.1 try again" })
    })
  }

  const table: ReadonlyArray<
    readonly [status: string, diagnostic: string, bounceType: "hard" | "soft", suppress: Suppress]
  > = [
    ["5.1.1", "smtp; 550 5.1.1 unknown", "hard", "now"],
    ["5.0.0", "smtp; 550 5.1.1 unknown", "hard", "now"],
    ["", "smtp;550 5.1.10 not found", "hard", "now"],
    ["5.1.1 (bad destination)", "x-unix; user unknown", "hard", "now"],
    ["5.2.1", "", "hard", "now"],
    ["5.2.2", "smtp; 552 5.2.2 over quota", "soft", "never"],
    ["5.0.0", "smtp; 552 5.2.2 over quota", "soft", "never"],
    ["4.4.7", "smtp; 451 4.4.7 delivery time expired", "soft", "never"],
    ["4.4.1", "X-Postfix; connect to mx: Connection timed out", "soft", "never"],
    ["5.4.7", "smtp; 451 too long in the queue", "soft", "never"],
    ["4.0.0", "smtp; 550 5.1.1 contradicts its status", "soft", "never"],
    ["5.7.1", "smtp; 550 5.7.1 blocked", "hard", "never"],
    ["5.7.26", "smtp; 550-5.7.26 unauthenticated", "hard", "never"],
    ["5.0.0", "smtp; 550 no such user", "hard", "repeated"],
    ["", "smtp; 550 no such user", "hard", "repeated"],
    ["5.0.0", "smtp; 554 delivery error", "hard", "never"],
    ["nonsense", "nonsense", "hard", "never"]
  ]
  for (const [status, diagnostic, bounceType, suppress] of table) {
    it(`with status ${JSON.stringify(status)} and ${JSON.stringify(diagnostic)} is ${bounceType}`, () => {
      const told = meaning(postfixDsn(mail, { status, diagnostic }))
      assert.deepInclude(told, { status: "bounced", bounceType, suppress })
    })
  }

  it("suppresses no address that it does not name, since the mail was forwarded", () => {
    const told = meaning(gmailDsn({ ...mail, to: "elsewhere@third.example" }))
    assert.deepInclude(told, { status: "bounced", bounceType: "hard", suppress: "never" })
  })

  it("does not suppress the original recipient if another address behind an alias failed", () => {
    const told = meaning(postfixDsn(mail, { finalRecipient: "gone@inner.example" }))
    assert.deepInclude(told, { status: "bounced", bounceType: "hard", suppress: "never" })
    // An account of the mail server, not an address.
    assert.deepInclude(meaning(postfixDsn(mail, { finalRecipient: "ada" })), { suppress: "now" })
  })

  it("about many recipients counts for the one that it is read for", () => {
    const group = (address: string, action: string, status: string) =>
      `Final-Recipient: rfc822;${address}\r\nAction: ${action}\r\nStatus: ${status}\r\n\r\n`
    const report = readDeliveryStatus(
      `Reporting-MTA: dns; mx\r\n\r\n${group("a@p.example", "relayed", "2.0.0")}${
        group("b@p.example", "failed", "5.1.1")
      }`
        + `${group("c@p.example", "delivered", "2.1.5")}${group("d@p.example", "failed", "5.2.2")}`
    )
    assert.strictEqual(report._tag, "Delivery")
    if (report._tag !== "Delivery") return
    const of = (recipient: string) => meaningFor(report.recipients, recipient)
    assert.isUndefined(meaningFor(report.recipients.slice(0, 1), "a@p.example"))
    assert.deepInclude(of("b@p.example"), { status: "bounced", bounceType: "hard", suppress: "now" })
    assert.deepStrictEqual(of("C@P.example"), { status: "delivered" })
    assert.deepInclude(of("d@p.example"), { status: "bounced", bounceType: "soft" })
  })

  it("is parsed if its parts are encoded", () => {
    const encoded = (encoding: string, encode: (text: string) => string) =>
      postfixDsn(mail).toString().replace(
        /(Content-Type: message\/delivery-status)\r\n\r\n([^]*?)(\r\n--4F1C2A)/,
        (_, type: string, text: string, end: string) =>
          `${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encode(text)}${end}`
      )
    const base64 = encoded(
      "BASE64",
      (text) => (Buffer.from(text).toString("base64").match(/.{1,76}/g) ?? []).join("\r\n")
    )
    const quoted = encoded(
      "quoted-printable",
      (text) => text.replaceAll("=", "=3D").replaceAll("Status: 5", "Sta=\r\ntus: =35")
    )
    for (const raw of [base64, quoted]) {
      assert.deepInclude(meaning(Buffer.from(raw)), { bounceType: "hard", suppress: "now" })
    }
  })

  it("with foreign characters in the reply gives one printable line", () => {
    const told = meaning(yahooDsn(mail, { diagnostic: `smtp; 554 \u001b[31m${"ü".repeat(900)}\u0000` }))
    if (typeof told !== "object" || told.status !== "bounced") return assert.fail("it bounced")
    assert.isAtMost(told.error.length, 500)
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(told.error, /[\u0000-\u001f\u007f]/)
  })
})

describe("a complaint", () => {
  it("has a type, and hints at the message in the report and its original", () => {
    const report = parseReport(arf({ ...mail, listUnsubscribe: "https://m.example/u/1-abc" }))
    assert.deepStrictEqual(report, {
      _tag: "Feedback",
      type: "abuse",
      hints: [
        "<b+token@bounces.example>",
        "<b+token@bounces.example>",
        "<one@news.example>",
        "<https://m.example/u/1-abc>"
      ]
    })
  })
})

describe("parseReport", () => {
  it("returns None for an automatic reply that quotes a report, and for a report inside a message", () => {
    assert.strictEqual(meaning(autoReply(mail)), "None")
    const forwarded = `From: a@b.example\r\nContent-Type: message/rfc822\r\n\r\n${postfixDsn(mail).toString()}`
    assert.strictEqual(meaning(Buffer.from(forwarded)), "None")
    const wrapped = `Content-Type: multipart/report; boundary=z\r\n\r\n--z\r\n${forwarded}\r\n--z--`
    assert.strictEqual(meaning(Buffer.from(wrapped)), "None")
    const returned = postfixDsn(mail).toString().replace(/message\/delivery-status/, "text/plain")
    assert.strictEqual(meaning(Buffer.from(returned)), "None")
  })

  const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
  const Place = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

  it.prop("returns None for bytes without a report, and never throws", [Bytes, Schema.String], ([bytes, text]) => {
    assert.strictEqual(parseReport(Uint8Array.from(bytes))._tag, "None")
    const part = `--x\nContent-Type: ${text}\n\n${text}\n--x--`
    assert.strictEqual(parseReport(Buffer.from(`Content-Type: multipart/report; boundary=x\n\n${part}`))._tag, "None")
    parseFields(text)
  })

  it.prop(
    "or is a report that broke off, or was changed on the way",
    [Place, Place, Bytes],
    ([end, at, bytes]) => {
      for (const raw of [...Object.values(shapes).map((shape) => shape(mail)), arf(mail)]) {
        parseReport(raw.subarray(0, Math.floor(end * raw.length)))
        const changed = Buffer.from(raw)
        changed.set(bytes.slice(0, raw.length), Math.floor(at * Math.max(0, raw.length - bytes.length)))
        const told = meaning(changed)
        if (typeof told === "object" && told.status === "bounced") assert.isTrue(told.error.isWellFormed())
      }
    }
  )

  it("parses ten megabytes of fields, folded lines, parts or noise in time", () => {
    const size = 10 * 1024 * 1024
    const head = postfixDsn(mail).toString()
    const boundary = "--4F1C2A.1896080400/mx.people.example\r\n\r\n"
    const fillings = [
      "X-Field: v\r\n",
      " folded\r\n",
      "\r\n",
      "Action: failed\r\n\r\n",
      boundary,
      "x",
      "(",
      "; ",
      "=  "
    ]
    for (const place of ["Date:", "This is the mail", "Reporting-MTA", "Final-Recipient", "rfc822; Ada"]) {
      const at = head.indexOf(place)
      for (const filling of fillings) {
        parseReport(Buffer.from(head.slice(0, at) + filling.repeat(Math.floor(size / filling.length)) + head.slice(at)))
      }
    }
    const large = head.replace("Message-ID:", `X-Large: y\r\n${"Received: x\r\n".repeat(700_000)}Message-ID:`)
    assert.deepInclude(meaning(Buffer.from(large)), { status: "bounced", bounceType: "hard" })
  })
})

describe("parseFields", () => {
  it("unfolds fields with names in any case, CRLF or LF, and blank lines of spaces", () => {
    const groups = parseFields("A: 1\r\n  2\r\nb :3\nno field\nB: 4\n \t \n\n C: lost\nD: 5")
    assert.deepStrictEqual(groups.map((group) => Object.fromEntries(group)), [
      { a: ["1 2"], b: ["3", "4"] },
      { d: ["5"] }
    ])
  })
})
