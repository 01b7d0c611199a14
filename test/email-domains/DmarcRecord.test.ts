import { assert, describe, it } from "@effect/vitest"
import { judgeDmarc } from "../../src/email-domains/DmarcRecord.ts"
import type { RecordStatus } from "../../src/email-domains/EmailDomain.ts"

const table: ReadonlyArray<readonly [what: string, texts: ReadonlyArray<string>, RecordStatus]> = [
  ["the record as it was given", ["v=DMARC1; p=none; adkim=r; aspf=r"], "verified"],
  ["a stricter policy", ["v=DMARC1;p=reject;rua=mailto:d@a.example"], "verified"],
  ["a strict alignment, as we sign with the very domain", ["v=DMARC1; p=quarantine; adkim=s; aspf=s"], "verified"],
  ["capitals in the policy and another text beside it", ["hello", "v=DMARC1; p=Reject"], "verified"],
  ["nothing", [], "missing"],
  ["a text that is no policy", ["v=DMARC2; p=none"], "missing"],
  ["no policy in it", ["v=DMARC1; rua=mailto:d@a.example"], "mismatch"],
  ["a policy that there is not", ["v=DMARC1; p=maybe"], "mismatch"],
  ["a tag twice", ["v=DMARC1; p=none; p=reject"], "mismatch"],
  ["two policies", ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "conflict"]
]

describe("DMARC", () => {
  for (const [what, texts, status] of table) {
    it(`a DMARC record is ${status} with ${what}`, () => {
      assert.strictEqual(judgeDmarc(texts).status, status)
      assert.strictEqual(judgeDmarc([], { name: "_dmarc.a.example", texts }).status, status)
    })
  }

  it("the organizational domain's DMARC policy applies only if the domain has none", () => {
    const above = { name: "_dmarc.a.example", texts: ["v=DMARC1; p=reject"] }
    assert.match(judgeDmarc(["hello"], above).detail, /policy of _dmarc\.a\.example: reject/)
    assert.match(judgeDmarc(["v=DMARC1; p=none"], above).detail, /policy: none/)
    assert.strictEqual(judgeDmarc(["v=DMARC1"], above).status, "mismatch")
  })

  it("a missing DMARC record is a recommendation, not a requirement", () => {
    assert.match(judgeDmarc([]).detail, /not required, but Gmail and Yahoo/)
  })
})
