import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { RecordStatus } from "../../src/email-domains/EmailDomain.ts"
import { judgeSpf, spfRedirect } from "../../src/email-domains/SpfRecord.ts"

const host = "spf.service.example"

const table: ReadonlyArray<readonly [what: string, texts: ReadonlyArray<string>, RecordStatus, detail: RegExp]> = [
  ["the record as it was given", [`v=spf1 include:${host} ~all`], "verified", /included/],
  ["another end", [`v=spf1 include:${host} -all`], "verified", /included/],
  ["no end", [`v=spf1 include:${host}`], "verified", /included/],
  ["capitals and a final dot", [`V=SPF1 INCLUDE:${host.toUpperCase()}. ~ALL`], "verified", /included/],
  ["the qualifier +", [`v=spf1 +include:${host} ~all`], "verified", /included/],
  [
    "others in front and more spaces",
    [`v=spf1  mx ip4:192.0.2.0/24  include:_spf.x.example include:${host}  -all`],
    "verified",
    /included/
  ],
  [
    "texts that are no SPF beside it",
    ["google-site-verification=1", "v=spf10 -all", `v=spf1 include:${host} ~all`],
    "verified",
    /./
  ],
  [
    "more lookups than receivers make",
    [`v=spf1 include:${host} ${Array.from({ length: 10 }, (_, i) => `include:s${i}.example`).join(" ")} ~all`],
    "verified",
    /11 DNS lookups/
  ],
  ["nothing", [], "missing", /Publish/],
  ["texts that are no SPF", ["v=spf2.0/pra", "hello"], "missing", /Publish/],
  ["two records, one of them right", ["v=spf1 -all", `v=spf1 include:${host} ~all`], "conflict", /2 SPF records/],
  [
    "another sender's record",
    ["v=spf1 include:_spf.x.example ~all"],
    "mismatch",
    /v=spf1 include:spf\.service\.example include:_spf\.x\.example ~all$/
  ],
  ["our host behind all", [`v=spf1 -all include:${host}`], "mismatch", /v=spf1 include:spf\.service\.example -all$/],
  [
    "our host with the qualifier -",
    [`v=spf1 -include:${host} ~all`],
    "mismatch",
    /v=spf1 include:spf\.service\.example ~all$/
  ],
  ["our host with the qualifier ?", [`v=spf1 ?include:${host} ~all`], "mismatch", /Change/],
  ["a host that only begins as ours", [`v=spf1 include:${host}.evil.example ~all`], "mismatch", /Change/],
  [
    "a redirect without its target",
    ["v=spf1 redirect=x.example"],
    "mismatch",
    /include:spf\.service\.example redirect=/
  ]
]

describe("SPF", () => {
  for (const [what, texts, status, detail] of table) {
    it(`an SPF record is ${status} with ${what}`, () => {
      const judgement = judgeSpf(texts, host)
      assert.strictEqual(judgement.status, status, judgement.detail)
      assert.match(judgement.detail, detail)
    })
  }

  it("an SPF check follows redirect= once", () => {
    const judged = (...texts: ReadonlyArray<string>) =>
      judgeSpf(["v=spf1 redirect=_spf.a.example"], host, { name: "_spf.a.example", texts })
    assert.deepStrictEqual(judged(`v=spf1 include:${host} -all`), {
      status: "verified",
      found: ["v=spf1 redirect=_spf.a.example", `v=spf1 include:${host} -all`],
      detail: "The host is included."
    })
    assert.strictEqual(judged("v=spf1 -all").status, "mismatch")
    assert.strictEqual(judged().status, "mismatch")
    assert.strictEqual(judged("v=spf1 redirect=_spf.b.example").status, "mismatch")
    assert.strictEqual(judged("v=spf1 -all", "v=spf1 ~all").status, "conflict")
  })

  it("an SPF check follows a redirect only from a single record without all, and only to a host name", () => {
    assert.strictEqual(spfRedirect(["hello", "v=spf1 mx REDIRECT=_SPF.a.example"]), "_spf.a.example")
    for (
      const texts of [
        [],
        ["v=spf1 -all"],
        ["v=spf1 redirect=a.example -all"],
        ["v=spf1 redirect=a.example", "v=spf1 -all"],
        ["v=spf1 redirect=%{d}.a.example"],
        ["v=spf1 redirect="],
        [`v=spf1 redirect=${"a.".repeat(200)}example`]
      ]
    ) assert.isUndefined(spfRedirect(texts), texts.join())
  })

  const term = Schema.Literals([
    "mx",
    "a:x.example",
    "ip4:192.0.2.1",
    "include:y.example",
    `-include:${host}`,
    "exists:z.example",
    "?all",
    "-all",
    "~all",
    "redirect=r.example"
  ])
  it.prop(
    "an SPF record is verified after its owner follows the advice, and keeps the other terms",
    [Schema.Array(term)],
    ([terms]) => {
      const before = ["v=spf1", ...terms].join(" ")
      const { detail, status } = judgeSpf([before], host)
      assert.strictEqual(status, "mismatch")
      const after = /v=spf1 .*$/.exec(detail)?.[0] ?? ""
      assert.strictEqual(judgeSpf([after], host).status, "verified")
      assert.deepStrictEqual(after.split(" ").slice(2), terms.filter((kept) => kept !== `-include:${host}`))
    }
  )

  it.prop("every SPF text gets a verdict", [Schema.Array(Schema.String)], ([texts]) => {
    assert.isString(judgeSpf([...texts, "v=spf1 \0"], host, { name: "x", texts }).detail)
  })
})
