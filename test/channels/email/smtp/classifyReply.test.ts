import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { classifyReply } from "../../../../src/channels/email/smtp/classifyReply.ts"
import { parseReply } from "../../../../src/channels/email/smtp/parseReply.ts"
import { SmtpStage } from "../../../../src/channels/email/smtp/SmtpErrors.ts"

const gone = { permanent: true, bounceType: "hard", suppress: "now" }
const refused = { permanent: true, bounceType: "hard", suppress: "never" }
const unexplained = { permanent: true, bounceType: "hard", suppress: "repeated" }
const full = { permanent: true, bounceType: "soft", suppress: "never" }
const later = { permanent: false, bounceType: "soft", suppress: "never" }

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
  ["552 5.2.2 mailbox full", "rcpt", full],
  ["552 5.4.7 delivery time expired", "message", full],
  ["550 5.4.300 message expired", "message", full],
  ["550 no such user", "rcpt", unexplained],
  ["550 no such user, said late", "message", unexplained],
  ["550 sender refused", "mail", refused],
  ["551 not local", "rcpt", refused],
  ["554 transaction failed", "data", refused],
  ["450 4.2.1 try later", "rcpt", later],
  ["452 4.2.2 mailbox full", "rcpt", later],
  ["451 4.7.1 greylisted", "message", later],
  ["421 4.7.0 too many connections", "mail", later],
  ["503 5.5.1 bad sequence of commands", "rcpt", later],
  // The class of the status contradicts the code: the code is believed, the status is not.
  ["450 5.1.1 cannot decide", "rcpt", later],
  ["550 4.1.1 cannot decide", "rcpt", unexplained],
  ["550 5.1.1000 not a status", "rcpt", unexplained],
  ["550-5.1.1 first line\n550 5.1.1 last line", "rcpt", gone]
]

describe("classifyReply", () => {
  for (const [reply, stage, expected] of table) {
    it(`reads ${JSON.stringify(reply)} at ${stage}`, () => {
      const parsed = parseReply(reply)
      assert.isDefined(parsed)
      assert.deepStrictEqual(classifyReply({ ...parsed, stage }), expected)
    })
  }

  it.prop(
    "answers for any code, and suppresses only what is permanent and hard, at once only what is said with a status",
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
  it("is undefined for what is not a reply", () => {
    for (const text of ["", "hello", "99 low", "600 high", "2500 long", " 250 space", "25"]) {
      assert.isUndefined(parseReply(text), text)
    }
  })

  it("makes one printable line of at most 500 characters", () => {
    const parsed = parseReply(`554-\u001b[31mred\u0000\r\n554 \u202eevil ${"x".repeat(2_000)}`)
    assert.strictEqual(parsed?.code, 554)
    assert.isTrue(parsed?.response.startsWith("554-\ufffd[31mred\ufffd 554 \ufffdevil xxx"))
    assert.strictEqual(parsed?.response.length, 500)
  })

  it.prop("is always well-formed, short and free of control characters", [Schema.String], ([text]) => {
    const parsed = parseReply(`550 ${text}`)
    assert.isDefined(parsed)
    assert.isAtMost(parsed.response.length, 500)
    assert.isTrue(parsed.response.isWellFormed())
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(parsed.response, /[\u0000-\u001f\u007f-\u009f]/)
  })
})
