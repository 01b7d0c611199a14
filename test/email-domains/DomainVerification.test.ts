import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/accounts/Audit.ts"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { PlanLimits } from "../../src/accounts/PlanLimits.ts"
import { DomainRegistrations } from "../../src/email-domains/DomainRegistrations.ts"
import { DomainVerification } from "../../src/email-domains/DomainVerification.ts"
import type { AddedDomain } from "../../src/email-domains/EmailDomain.ts"
import { EmailDomains } from "../../src/email-domains/EmailDomains.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { Dns } from "../../src/platform/net/Dns.ts"
import { DomainName } from "../../src/values/DomainName.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The texts that the name servers answer. A name with a gate waits for it. */
const texts = new Map<string, ReadonlyArray<string>>()
const gates = new Map<string, Deferred.Deferred<void>>()
const asked = new Map<string, Deferred.Deferred<void>>()

const Zone = Layer.succeed(
  Dns,
  Dns.of({
    txt: Effect.fnUntraced(function*(name) {
      const found = texts.get(name) ?? []
      const [seen, gate] = [asked.get(name), gates.get(name)]
      if (seen !== undefined) yield* Deferred.succeed(seen, undefined)
      if (gate !== undefined) yield* Deferred.await(gate)
      return found
    }),
    mx: () => Effect.succeed([]),
    hasAddress: () => Effect.succeed(false)
  })
)

const Subject = Layer.mergeAll(DomainVerification.layer, DomainRegistrations.layer, EmailDomains.layer).pipe(
  Layer.provide([Zone, Audit.layer, Notices.layer, PlanLimits.layer, Vault.layer(Redacted.make(new Uint8Array(32)))]),
  Layer.provide(AppConfig.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const publish = ({ dns_records }: AddedDomain, purposes: ReadonlyArray<string>) => {
  for (const { name, purpose, value } of dns_records) {
    if (purposes.includes(purpose)) texts.set(name, [value])
  }
}

/** Delays the answer for a name. `reached` ends when a query for it has arrived. */
const holdBack = Effect.fnUntraced(function*(name: string) {
  const gate = yield* Deferred.make<void>()
  const seen = yield* Deferred.make<void>()
  gates.set(name, gate)
  asked.set(name, seen)
  const release = Effect.suspend(() => {
    gates.delete(name)
    return Deferred.succeed(gate, undefined)
  })
  return { reached: Deferred.await(seen), release }
})

const registered = Effect.fnUntraced(function*(name: string) {
  const { accountId } = yield* makeAccount()
  const domains = yield* DomainRegistrations
  const added = yield* domains.add(accountId, DomainName.make(name))
  return { accountId, added, id: added.id, dkim: `api._domainkey.${name}` }
})

const age = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update email_domains set checked_at = null`)

layer(Subject, { excludeTestServices: true })("domain checks", (it) => {
  it.effect("a check that started before another account took the domain changes nothing", () =>
    Effect.gen(function*() {
      const { verify } = yield* DomainVerification
      const domains = yield* DomainRegistrations
      const first = yield* registered("taken.example")
      const second = yield* registered("taken.example")
      publish(first.added, ["DKIM", "SPF"])
      assert.strictEqual((yield* verify(first.accountId, first.id)).status, "verified")
      yield* age
      const { reached, release } = yield* holdBack(first.dkim)
      const late = yield* Effect.forkChild(verify(first.accountId, first.id))
      yield* reached
      gates.delete(first.dkim)
      publish(second.added, ["DKIM"])
      assert.strictEqual((yield* verify(second.accountId, second.id)).status, "verified")
      yield* release
      const after = yield* Fiber.join(late)
      assert.deepStrictEqual([after.status, after.dns_records[0]?.status], ["pending", "mismatch"])
      assert.strictEqual((yield* domains.find(second.accountId, second.id)).status, "verified")
    }))

  it.effect("a check that started before another account was verified does not displace it", () =>
    Effect.gen(function*() {
      const { verify } = yield* DomainVerification
      const domains = yield* DomainRegistrations
      const first = yield* registered("moved.example")
      const second = yield* registered("moved.example")
      publish(first.added, ["DKIM", "SPF"])
      const { reached, release } = yield* holdBack(first.dkim)
      const late = yield* Effect.forkChild(verify(first.accountId, first.id))
      yield* reached
      gates.delete(first.dkim)
      publish(second.added, ["DKIM"])
      assert.strictEqual((yield* verify(second.accountId, second.id)).status, "verified")
      yield* release
      const after = yield* Fiber.join(late)
      assert.deepStrictEqual([after.status, after.dns_records[0]?.status], ["pending", "mismatch"])
      assert.strictEqual((yield* domains.find(second.accountId, second.id)).status, "verified")
    }))

  it.effect("of two checks that end together, the account whose key is published keeps the domain", () =>
    Effect.forEach(["one", "two", "three", "four", "five"], (name) =>
      Effect.gen(function*() {
        const { verify } = yield* DomainVerification
        const first = yield* registered(`${name}.example`)
        const second = yield* registered(`${name}.example`)
        const release: Array<Effect.Effect<boolean>> = []
        const begun = yield* Effect.forEach([first, second], ({ accountId, added, dkim, id }) =>
          Effect.gen(function*() {
            publish(added, ["DKIM", "SPF"])
            const gate = yield* holdBack(dkim)
            release.push(gate.release)
            const fiber = yield* Effect.forkChild(verify(accountId, id))
            yield* gate.reached
            return fiber
          }))
        yield* Effect.all(release)
        const [before, after] = yield* Fiber.joinAll(begun)
        assert.strictEqual(after?.status, "verified")
        // It may have been verified for a moment before the other one.
        assert.include(["pending", "verified"], before?.status)
        const { find } = yield* DomainRegistrations
        assert.strictEqual((yield* find(first.accountId, first.id)).status, "pending")
        assert.strictEqual((yield* find(second.accountId, second.id)).status, "verified")
      }), { discard: true }))

  it.effect("a check whose lease expired changes nothing while the next one runs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { checkDue } = yield* DomainVerification
      const { added, dkim, id } = yield* registered("expired.example")
      yield* sql`update email_domains set next_check_at = case when id = ${id} then now() end`
      const row = sql`select to_jsonb(d) as row from email_domains d where id = ${id}`
      const begin = Effect.gen(function*() {
        const { reached, release } = yield* holdBack(dkim)
        const checking = yield* Effect.forkChild(checkDue)
        yield* reached
        return { end: Effect.andThen(release, Fiber.join(checking)) }
      })
      const former = yield* begin
      yield* sql`update email_domains set check_until = now() - interval '1 second' where id = ${id}`
      publish(added, ["DKIM", "SPF"])
      const present = yield* begin
      const claimed = yield* row
      yield* former.end
      assert.deepStrictEqual(yield* row, claimed)
      yield* present.end
      assert.deepInclude((yield* row)[0]?.["row"], { status: "verified", check_until: null })
    }))

  it.effect("a check of a domain that is deleted meanwhile ends with NotFound", () =>
    Effect.gen(function*() {
      const { verify } = yield* DomainVerification
      const domains = yield* DomainRegistrations
      const { accountId, added, dkim, id } = yield* registered("deleted.example")
      publish(added, ["DKIM", "SPF"])
      const { reached, release } = yield* holdBack(dkim)
      const late = yield* Effect.forkChild(Effect.flip(verify(accountId, id)))
      yield* reached
      yield* domains.remove(accountId, id)
      yield* release
      assert.strictEqual((yield* Fiber.join(late))._tag, "NotFound")
    }))

  it.effect("each due check runs once, on the first node that claims it, until none is due", () =>
    Effect.gen(function*() {
      const { checkDue, isAnyDue } = yield* DomainVerification
      const sql = yield* SqlClient.SqlClient
      yield* sql`update email_domains set next_check_at = null`
      assert.isFalse(yield* isAnyDue)
      const { added } = yield* registered("due.example")
      publish(added, ["DKIM", "SPF"])
      yield* sql`update email_domains set next_check_at = now() where id = ${added.id}`
      assert.isTrue(yield* isAnyDue)
      const found = yield* Effect.all([checkDue, checkDue, checkDue], { concurrency: 3 })
      assert.sameMembers(found, [true, false, false])
      assert.isFalse(yield* checkDue)
    }))
})

layer(Subject, { excludeTestServices: true })("verified domains", (it) => {
  it.effect("a check that passes allows senders of the domain and returns the private key of the published one", () =>
    Effect.gen(function*() {
      const { verify } = yield* DomainVerification
      const { dkimKey, requireVerified } = yield* EmailDomains
      const { accountId, added, id } = yield* registered("sender.example")
      const sender = EmailAddress.make("us@sender.example")
      assert.strictEqual((yield* Effect.flip(requireVerified(accountId, sender)))._tag, "SenderNotVerified")
      publish(added, ["DKIM", "SPF"])
      yield* verify(accountId, id)
      yield* requireVerified(accountId, sender)
      const pem = Option.getOrThrow(yield* dkimKey(accountId, "sender.example"))
      assert.match(Redacted.value(pem), /^-----BEGIN PRIVATE KEY-----/)
    }))

  it.effect("a domain warns about missing recommendations once it was checked", () =>
    Effect.gen(function*() {
      const { verify } = yield* DomainVerification
      const { ofSender } = yield* EmailDomains
      const { accountId, added, id } = yield* registered("warned.example")
      const warnings = (sender: string) =>
        Effect.map(ofSender(accountId, EmailAddress.make(sender)), (domain) => domain.warnings)
      assert.deepStrictEqual(yield* warnings("post@warned.example"), [])
      publish(added, ["DKIM", "SPF"])
      yield* verify(accountId, id)
      assert.deepStrictEqual(
        (yield* warnings("post@warned.example")).map((text) => text.slice(0, 23)),
        ["There is no DMARC polic"]
      )
      assert.deepStrictEqual(yield* warnings("post@unknown.example"), [])
    }))
})
