import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { judgeDkim } from "../../src/email-domains/DkimRecord.ts"
import { dnsRecords, type RecordStatus } from "../../src/email-domains/EmailDomain.ts"

const key = Buffer.from(Array.from({ length: 294 }, (_, index) => (index * 7 + 3) % 256))
const publicKey = key.toString("base64")
const foreign = Buffer.from(key.toReversed()).toString("base64")
const [record] = dnsRecords({ domain: "a.example", publicKey, spfHost: "spf.example" })
const ours = record?.value ?? ""

const table: ReadonlyArray<readonly [what: string, texts: ReadonlyArray<string>, RecordStatus, detail: RegExp]> = [
  ["the record as it was given", [ours], "verified", /published/],
  ["v=DKIM1 in front and a semicolon at the end", [`v=DKIM1; ${ours};`], "verified", /published/],
  ["no k, which means rsa", [`p=${publicKey}`], "verified", /published/],
  [
    "tags in another order, in capitals, with spaces",
    [` P = ${publicKey} ; T = s ; K = RSA `],
    "verified",
    /published/
  ],
  ["spaces and line breaks in the key", [`k=rsa; p=${publicKey.replaceAll(/.{64}/g, "$& \t\r\n")}`], "verified", /./],
  ["unknown tags", [`${ours}; n=note; x1=y`], "verified", /published/],
  ["a list of hashes and services with ours", [`h=sha1:sha256; s=email:web; ${ours}`], "verified", /published/],
  ["a key that is marked as a test", [`k=rsa; t=y:s; p=${publicKey}`], "verified", /test/],
  ["another text beside the key", ["hello", ours], "verified", /published/],
  ["nothing", [], "missing", /Publish/],
  ["a text that is no key", ["v=spf1 -all"], "mismatch", /no DKIM key/],
  ["two keys, one of them ours", [ours, `k=rsa;p=${foreign}`], "conflict", /2 DKIM keys/],
  ["our record twice", [ours, ours], "conflict", /Remove/],
  ["another key", [`k=rsa;t=s;p=${foreign}`], "mismatch", /not this domain's key/],
  ["a key that was cut off", [ours.slice(0, -40)], "mismatch", /cut off/],
  ["an empty key", ["k=rsa;t=s;p="], "mismatch", /revoked/],
  ["quotes that were pasted along", [`"${ours}"`], "mismatch", /quotes/],
  ["quotes within the key", [ours.replace(/.{100}$/, "\" \"$&")], "mismatch", /quotes/],
  ["a tag twice", [`${ours}; p=${publicKey}`], "mismatch", /tags/],
  ["another kind of key", [`k=ed25519; p=${publicKey}`], "mismatch", /rsa/],
  ["another version", [`v=DKIM2; p=${publicKey}`], "mismatch", /DKIM1/],
  ["SHA-1 alone", [`h=sha1; ${ours}`], "mismatch", /SHA-256/],
  ["another service alone", [`s=web; ${ours}`], "mismatch", /email/]
]

describe("DKIM", () => {
  for (const [what, texts, status, detail] of table) {
    it(`a DKIM record is ${status} with ${what}`, () => {
      const judgement = judgeDkim(texts, publicKey)
      assert.strictEqual(judgement.status, status, judgement.detail)
      assert.match(judgement.detail, detail)
    })
  }

  it.prop(
    "a DKIM record with any other key is a mismatch",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 293 }))],
    ([at]) => {
      const other = Buffer.from(key)
      other.writeUInt8(255 - other.readUInt8(at), at)
      assert.strictEqual(judgeDkim([`k=rsa;p=${other.toString("base64")}`], publicKey).status, "mismatch")
    }
  )

  it.prop(
    "every DKIM text gets a verdict that can be stored and shown",
    [Schema.Array(Schema.String)],
    ([texts]) => {
      const { found } = judgeDkim([...texts, "p=\0\u001b[2J\ud800"], publicKey)
      assert.isTrue(found.length <= 10)
      for (const text of found) {
        // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
        assert.isFalse(/[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed(), text)
      }
    }
  )
})
