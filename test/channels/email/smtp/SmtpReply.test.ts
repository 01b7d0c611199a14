import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SmtpStage } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { classifyReply, parseReply, ReplyReader } from "../../../../src/channels/email/smtp/SmtpReply.ts"

const Reply = Schema.Literals([
  "250 2.1.0 ok",
  "250-first\r\n250-second\r\n250 last",
  "354 go on",
  "550 geht nicht: ü €"
])
const ChunkSize = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))

/** Reads bytes in chunks of these sizes, over and over. */
const readInChunks = (bytes: Buffer, sizes: ReadonlyArray<number>) => {
  const reader = new ReplyReader()
  const replies: Array<string> = []
  let at = 0
  for (let count = 0; at < bytes.length; count++) {
    const size = sizes[count % sizes.length] ?? 1
    replies.push(...reader.take(bytes.subarray(at, at + size)) ?? [])
    at += size
  }
  return { replies, rest: reader.rest }
}

describe("ReplyReader", () => {
  it.prop("returns the same replies for any chunks", [Schema.Array(Reply), Schema.NonEmptyArray(ChunkSize)], (
    [sent, sizes]
  ) => {
    const bytes = Buffer.from(sent.map((reply) => `${reply}\r\n`).join(""))
    const expected = sent.map((reply) => reply.replaceAll("\r\n", "\n"))
    assert.deepStrictEqual(readInChunks(bytes, sizes), { replies: expected, rest: "" })
  })

  it("accepts lines that end with LF alone, and skips empty lines between replies", () => {
    assert.deepStrictEqual(new ReplyReader().take(Buffer.from("250-a\n250 b\n\r\n354 c\r\n")), [
      "250-a\n250 b",
      "354 c"
    ])
  })

  it("exposes an incomplete reply as `rest`", () => {
    const reader = new ReplyReader()
    assert.deepStrictEqual(reader.take(Buffer.from("250 ok\r\n421-going\r\n421 do")), ["250 ok"])
    assert.strictEqual(reader.rest, "421-going\n421 do")
  })

  it("rejects a line or a reply that exceeds 64 kB", () => {
    for (const endless of ["x".repeat(1_000), `250-${"x".repeat(994)}\r\n`]) {
      const reader = new ReplyReader()
      const taken = Array.from({ length: 70 }, () => reader.take(Buffer.from(endless)))
      assert.deepStrictEqual(taken.slice(0, 60), taken.slice(0, 60).map(() => []))
      assert.strictEqual(taken.at(-1), undefined)
    }
  })
})

const gone = { permanent: true, bounceType: "hard", suppress: "now" }
const refused = { permanent: true, bounceType: "hard", suppress: "never" }
const unexplained = { permanent: true, bounceType: "hard", suppress: "repeated" }
const undelivered = { permanent: true, bounceType: "soft", suppress: "never" }
const temporary = { permanent: false, bounceType: "soft", suppress: "never" }

const table: ReadonlyArray<readonly [reply: string, stage: SmtpStage, expected: object]> = [
  ["550 5.1.1 no such user", "rcpt", gone],
  ["550 5.1.1 no such user, said late", "message", gone],
  ["550 5.1.2 bad destination system", "rcpt", gone],
  ["553 5.1.3 bad address syntax", "rcpt", gone],
  ["551 5.1.6 mailbox has moved", "rcpt", gone],
  ["556 5.1.10 domain has a null MX", "rcpt", gone],
  ["550 5.2.1 mailbox disabled", "rcpt", gone],
  ["525 5.7.13 user account disabled", "rcpt", gone],
  ["550 5.1.1 sender unknown", "mail", refused],
  ["550 5.7.1 relaying denied", "rcpt", refused],
  ["550 5.7.26 unauthenticated mail", "message", refused],
  ["554 5.7.0 spam", "message", refused],
  ["552 5.3.4 too big", "mail", refused],
  ["550 5.4.1 no answer from host", "rcpt", refused],
  ["554 5.6.0 bad content", "message", refused],
  ["553 5.6.7 SMTPUTF8 needed", "client", refused],
  ["550 5.5.0 protocol", "rcpt", refused],
  ["552 5.2.2 mailbox full", "rcpt", undelivered],
  ["552 5.4.7 delivery time expired", "message", undelivered],
  ["550 5.4.300 message expired", "message", undelivered],
  ["550 no such user", "rcpt", unexplained],
  ["550 no such user, said late", "message", unexplained],
  ["550 sender refused", "mail", refused],
  ["551 not local", "rcpt", refused],
  ["554 transaction failed", "data", refused],
  ["450 4.2.1 try later", "rcpt", temporary],
  ["452 4.2.2 mailbox full", "rcpt", temporary],
  ["451 4.7.1 greylisted", "message", temporary],
  ["421 4.7.0 too many connections", "mail", temporary],
  ["503 5.5.1 bad sequence of commands", "rcpt", temporary],
  // The class of the status contradicts the code: the code counts, the status does not.
  ["450 5.1.1 cannot decide", "rcpt", temporary],
  ["550 4.1.1 cannot decide", "rcpt", unexplained],
  ["550 5.1.1000 not a status", "rcpt", unexplained],
  ["550-5.1.1 first line\n550 5.1.1 last line", "rcpt", gone]
]

describe("classifyReply", () => {
  for (const [reply, stage, expected] of table) {
    it(`classifies ${JSON.stringify(reply)} at ${stage}`, () => {
      const parsed = parseReply(reply)
      assert.isDefined(parsed)
      assert.deepStrictEqual(classifyReply({ ...parsed, stage }), expected)
    })
  }

  it.prop(
    "classifies any code; only a hard bounce suppresses, and only a status suppresses at once",
    { code: Schema.Int, enhanced: Schema.String, stage: SmtpStage },
    ({ code, enhanced, stage }) => {
      for (const reply of [{ code, stage }, { code, enhanced, stage }]) {
        const { bounceType, permanent, suppress } = classifyReply(reply)
        assert.isTrue(permanent ? code >= 500 && code <= 599 : bounceType === "soft")
        assert.isTrue(suppress === "never" || (permanent && bounceType === "hard"))
        assert.isTrue(suppress !== "now" || "enhanced" in reply)
      }
    }
  )
})

describe("parseReply", () => {
  it("returns undefined for text that is not a reply", () => {
    for (const text of ["", "hello", "99 low", "600 high", "2500 long", " 250 space", "25"]) {
      assert.isUndefined(parseReply(text), text)
    }
  })

  it("makes the response one printable line of at most 500 characters", () => {
    const parsed = parseReply(`554-\u001b[31mred\u0000\r\n554 \u202eevil ${"x".repeat(2_000)}`)
    assert.strictEqual(parsed?.code, 554)
    assert.isTrue(parsed?.response.startsWith("554-\ufffd[31mred\ufffd 554 \ufffdevil xxx"))
    assert.strictEqual(parsed?.response.length, 500)
  })

  it.prop("makes any response well-formed, short and free of control characters", [Schema.String], ([text]) => {
    const parsed = parseReply(`550 ${text}`)
    assert.isDefined(parsed)
    assert.isAtMost(parsed.response.length, 500)
    assert.isTrue(parsed.response.isWellFormed())
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(parsed.response, /[\u0000-\u001f\u007f-\u009f]/)
  })
})
