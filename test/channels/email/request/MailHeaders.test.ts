import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { MailHeaders } from "../../../../src/channels/email/request/MailHeaders.ts"
import { violationsOf } from "../../../../src/platform/http/violations.ts"

const decode = Schema.decodeUnknownResult(MailHeaders)

const faultOf = (headers: unknown) => {
  const result = decode(headers)
  return Result.isFailure(result) ? violationsOf(result.failure.issue)[0] : undefined
}

const accepted: ReadonlyArray<Readonly<Record<string, string>>> = [
  {},
  { "X-Entity-Ref-ID": "a".repeat(500) },
  { "X-Long-Words": `${"a".repeat(900)} ${"b".repeat(90)}` },
  { "x-unicode": "Ünited ✓" },
  { "x-unicode": "ü".repeat(1_000) },
  { "In-Reply-To": "<a@b.example>", References: "<a@b.example>\t<c@d.example>" },
  { "Auto-Submitted": "auto-generated", Precedence: "bulk" },
  { "List-Id": "News <news.shop.example>", "List-Help": "<mailto:help@shop.example>" }
]

const refused: ReadonlyArray<readonly [name: string, value: unknown, says: RegExp]> = [
  ["Bcc", "a@b.example", /no field that a mail may set/],
  ["DKIM-Signature", "v=1", /no field that a mail may set/],
  ["Content-Type", "text/html", /no field that a mail may set/],
  ["From", "a@b.example", /no field that a mail may set/],
  ["Received", "from x", /no field that a mail may set/],
  ["List-Unsubscribe", "<https://x.example>", /the service sets this field itself/],
  ["list-unsubscribe-post", "List-Unsubscribe=One-Click", /the service sets this field itself/],
  ["X-Recipient-Token", "t", /the service sets this field itself/],
  ["X-A: b\r\nBcc", "c", /no field that a mail may set/],
  ["X-Ünited", "a", /no field that a mail may set/],
  ["X-A", "a\r\nBcc: b@c.example", /line breaks/],
  ["X-A", "a\nb", /line breaks/],
  ["X-A", "a\rb", /line breaks/],
  ["X-A", "a\0b", /NUL/],
  ["X-A", " ", /must not be empty/],
  ["X-A", "a".repeat(1_001), /at most 1000 characters/],
  ["X-A", "a".repeat(901), /a space within each 900 characters/],
  ["X-A", 7, /must be a string/],
  ["References", "<ü@b.example>", /ASCII/]
]

describe("MailHeaders", () => {
  for (const headers of accepted) {
    it(`accepts ${JSON.stringify(headers).slice(0, 80)}`, () => {
      assert.isTrue(Result.isSuccess(decode(headers)))
    })
  }

  for (const [name, value, says] of refused) {
    it(`refuses ${JSON.stringify({ [name]: value }).slice(0, 80)} and names it`, () => {
      const fault = faultOf({ [name]: value })
      assert.strictEqual(fault?.param, name)
      assert.match(fault?.message ?? "", says)
    })
  }

  it("refuses a name that is given twice, whatever its case", () => {
    assert.deepInclude(faultOf({ "X-A": "1", "x-a": "2" }), { param: "x-a", message: "must be given once" })
  })

  it("refuses more than fifty fields", () => {
    const headers = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, "v"]))
    assert.match(faultOf(headers)?.message ?? "", /at most 50 fields/)
  })
})
