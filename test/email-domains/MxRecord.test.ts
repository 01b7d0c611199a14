import { assert, describe, it } from "@effect/vitest"
import type { RecordStatus } from "../../src/email-domains/EmailDomain.ts"
import { judgeMx } from "../../src/email-domains/MxRecord.ts"

const host = "mail.a.example"

const table: ReadonlyArray<readonly [what: string, exchanges: ReadonlyArray<string>, RecordStatus, detail: RegExp]> = [
  ["our host", [host], "verified", /goes to mail\.a\.example/],
  ["our host among others", ["x.example", host], "verified", /goes to/],
  ["none", [], "missing", /not required\. This service receives no replies/],
  ["another host", ["aspmx.x.example"], "mismatch", /another server/],
  ["a null MX", [""], "mismatch", /accepts no mail/]
]

describe("MX", () => {
  for (const [what, exchanges, status, detail] of table) {
    it(`an MX record is ${status} with ${what}`, () => {
      const judgement = judgeMx(exchanges.map((exchange, priority) => ({ exchange, priority })), host, true)
      assert.strictEqual(judgement.status, status)
      assert.match(judgement.detail, detail)
    })
  }

  it("an MX record is a mismatch if our host has no address", () => {
    const { detail, found, status } = judgeMx([{ exchange: host, priority: 10 }], host, false)
    assert.deepStrictEqual([status, found], ["mismatch", ["10 mail.a.example"]])
    assert.match(detail, /no address/)
  })
})
