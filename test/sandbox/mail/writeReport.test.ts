import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { parseReport } from "../../../src/channels/email/reports/parseReport.ts"
import { meaningFor } from "../../../src/channels/email/reports/Report.ts"
import { refusalOf, reportOf, specialAddresses } from "../../../src/sandbox/mail/specialAddresses.ts"
import { writeReport } from "../../../src/sandbox/mail/writeReport.ts"

const mail = {
  returnPath: "b+token@bounces.example",
  recipient: "ada@example.com",
  raw: Buffer.from("Message-ID: <token@shop.example>\r\nSubject: hi\r\n\r\nhello\r\n"),
  at: DateTime.makeUnsafe(0)
}

describe("reports of the sandbox", () => {
  it("the start of an address requests a report, in any letter case, unless the address fails at once", () => {
    assert.strictEqual(reportOf("LateBounce+1@example.com"), "bounce")
    assert.isUndefined(reportOf("ada@example.com"))
    assert.isUndefined(reportOf("bounce@example.com"))
    for (const { prefix } of specialAddresses) {
      const address = `${prefix}@example.com`
      assert.notStrictEqual(refusalOf(address) === undefined, reportOf(address) === undefined, address)
    }
  })

  it("each kind of report is parsed as that kind", () => {
    const meanings = (["bounce", "soft bounce", "delay", "delivery"] as const).map((kind) => {
      const { raw, to } = writeReport(kind, mail)
      assert.strictEqual(to, mail.returnPath)
      const report = parseReport(raw)
      return report._tag === "Delivery" ? meaningFor(report.recipients, mail.recipient) : report._tag
    })
    assert.deepStrictEqual(meanings.map((meaning) => typeof meaning === "object" ? meaning.status : meaning), [
      "bounced",
      "bounced",
      "delayed",
      "delivered"
    ])
    const { raw, to } = writeReport("complaint", mail)
    assert.strictEqual(to, "fbl@bounces.example")
    const complaint = parseReport(raw)
    assert.deepInclude(complaint, { _tag: "Feedback", type: "abuse" })
    assert.isTrue(complaint._tag === "Feedback" && complaint.hints.some((hint) => hint.includes("token@shop.example")))
  })
})
