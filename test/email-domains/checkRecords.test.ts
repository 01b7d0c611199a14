import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { checkRecords } from "../../src/email-domains/checkRecords.ts"
import { dnsRecords } from "../../src/email-domains/EmailDomain.ts"
import { Dns } from "../../src/platform/net/Dns.ts"
import { DomainName } from "../../src/values/DomainName.ts"
import { dkimKey } from "../support/bulkMail.ts"
import { type DnsAnswer, type DnsZone, makeDnsServer } from "../support/DnsServer.ts"

const domain = DomainName.make("news.shop.example")
const publicKey = dkimKey.published.replace(/^.*p=/, "")
const expected = { domain, publicKey, spfHost: "spf.service.example" }
const [dkim = "", spf = "", dmarc = ""] = dnsRecords(expected).map(({ value }) => value)

const at = { dkim: `api._domainkey.${domain}`, dmarc: `_dmarc.${domain}`, mail: `mail.${domain}` }

/** All four records, correct. */
const published: DnsZone = {
  [domain]: { TXT: [spf], MX: [[10, at.mail]] },
  [at.dkim]: { TXT: [dkim] },
  [at.dmarc]: { TXT: [dmarc] },
  [at.mail]: { A: ["192.0.2.25"] }
}

const without = (...names: ReadonlyArray<string>): DnsZone =>
  Object.fromEntries(Object.entries(published).filter(([name]) => !names.includes(name)))

const checked = Effect.fnUntraced(function*(zone: DnsZone) {
  const server = yield* makeDnsServer(zone)
  const check = yield* Effect.flatMap(Dns, (dns) => checkRecords(dns)(expected)).pipe(
    Effect.provide(Dns.layerOf([server.address]))
  )
  const of = (purpose: string) => check.find((record) => record.purpose === purpose)
  return { of, server, statuses: check.map(({ status }) => status).join(" ") }
})

const good = "verified verified verified verified"

/** DKIM, SPF, DMARC, MX. */
const matrix: ReadonlyArray<readonly [what: string, zone: DnsZone, statuses: string]> = [
  ["everything as it was asked for", published, good],
  ["nothing at all", {}, "missing missing missing missing"],
  ["names that exist without such records", {
    [domain]: { A: ["192.0.2.1"] },
    [at.dkim]: { A: ["192.0.2.1"] },
    [at.dmarc]: { A: ["192.0.2.1"] }
  }, "missing missing missing missing"],
  ["a key cut into many strings", {
    ...published,
    [at.dkim]: { TXT: [dkim.match(/.{1,60}/g) ?? []] }
  }, good],
  ["a key behind a CNAME", {
    ...published,
    [at.dkim]: { CNAME: "api.keys.elsewhere.example" },
    "api.keys.elsewhere.example": { TXT: [dkim] }
  }, good],
  ["a key behind a CNAME that leads nowhere", {
    ...published,
    [at.dkim]: { CNAME: "gone.elsewhere.example" }
  }, "missing verified verified verified"],
  ["two keys", {
    ...published,
    [at.dkim]: { TXT: [dkim, "k=rsa;p=AAAA"] }
  }, "conflict verified verified verified"],
  ["an SPF record merged with another service's", {
    ...published,
    [domain]: {
      TXT: ["site-verification=1", "v=spf1 include:_spf.x.example include:spf.service.example -all"],
      MX: [[10, at.mail]]
    }
  }, good],
  ["an SPF record that goes on elsewhere", {
    ...published,
    [domain]: { TXT: ["v=spf1 redirect=_spf.shop.example"], MX: [[10, at.mail]] },
    "_spf.shop.example": { TXT: [spf] }
  }, good],
  ["an SPF record that goes on where nothing is", {
    ...published,
    [domain]: { TXT: ["v=spf1 redirect=_spf.shop.example"], MX: [[10, at.mail]] }
  }, "verified mismatch verified verified"],
  ["an SPF record that goes on where name servers fail", {
    ...published,
    [domain]: { TXT: ["v=spf1 redirect=_spf.shop.example"], MX: [[10, at.mail]] },
    "_spf.shop.example": "servfail"
  }, "verified temporary_error verified verified"],
  ["two SPF records", {
    ...published,
    [domain]: { TXT: [spf, "v=spf1 mx -all"], MX: [[10, at.mail]] }
  }, "verified conflict verified verified"],
  ["the DMARC policy of the organizational domain", {
    ...without(at.dmarc),
    "_dmarc.shop.example": { TXT: ["v=DMARC1; p=reject"] }
  }, good],
  ["a DMARC policy behind a CNAME", {
    ...published,
    [at.dmarc]: { CNAME: "dmarc.elsewhere.example" },
    "dmarc.elsewhere.example": { TXT: [dmarc] }
  }, good],
  ["mail that goes elsewhere", {
    ...published,
    [domain]: { TXT: [spf], MX: [[1, "aspmx.x.example"]] }
  }, "verified verified verified mismatch"],
  ["a mail host without an address", without(at.mail), "verified verified verified mismatch"],
  [
    "a mail host whose name servers fail",
    { ...published, [at.mail]: "servfail" },
    "verified verified verified temporary_error"
  ],
  ["no DMARC policy and no MX", {
    ...without(at.dmarc),
    [domain]: { TXT: [spf] }
  }, "verified verified missing missing"]
]

describe("checkRecords", () => {
  for (const [what, zone, statuses] of matrix) {
    it.live(`a domain check with ${what} returns ${statuses}`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* checked(zone)).statuses, statuses)
      }))
  }

  for (const fault of ["servfail", "refused"] as const satisfies ReadonlyArray<DnsAnswer>) {
    it.live(`a domain check says nothing about records whose name server answers ${fault}`, () =>
      Effect.gen(function*() {
        const zone = Object.fromEntries(Object.keys(published).map((name) => [name, fault]))
        const { of, statuses } = yield* checked(zone)
        assert.strictEqual(statuses, "temporary_error temporary_error temporary_error temporary_error")
        assert.match(of("DKIM")?.detail ?? "", /gave no answer for api\._domainkey.*check again/)
        assert.deepStrictEqual(of("DKIM")?.found, [])
      }))
  }

  it.live(
    "a domain check ends if a name server is silent, and says nothing about its records",
    () =>
      Effect.gen(function*() {
        const { statuses } = yield* checked({ ...published, [at.dkim]: "silent", [at.dmarc]: "silent" })
        assert.strictEqual(statuses, "temporary_error verified temporary_error verified")
      })
  )

  it.live("a domain check reads by TCP a key that is one of several too long for UDP", () =>
    Effect.gen(function*() {
      const { server, statuses } = yield* checked({ ...published, [at.dkim]: { TXT: [dkim, "x".repeat(200)] } })
      assert.strictEqual(statuses, good)
      assert.deepStrictEqual(server.overTcp, [`TXT ${at.dkim}`])
    }))

  it.live("a domain check queries the organizational domain and redirects only if it must", () =>
    Effect.gen(function*() {
      const { server } = yield* checked({
        ...published,
        [domain]: { TXT: [`${spf.replace("~all", "")}redirect=_spf.shop.example`], MX: [] },
        [at.dkim]: {}
      })
      assert.sameMembers([...server.queries], [`TXT ${at.dkim}`, `TXT ${domain}`, `TXT ${at.dmarc}`, `MX ${domain}`])
    }))
})
