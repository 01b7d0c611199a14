import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import * as DkimSigners from "../../../../src/channels/email/mime/DkimSigners.ts"
import { DefaultSender } from "../../../../src/channels/email/request/DefaultSender.ts"
import { EmailDomains } from "../../../../src/email-domains/EmailDomains.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { shadowOf } from "../../../../src/values/TestMode.ts"
import { dkimKey, insertDomain, mainKey } from "../../../support/bulkMail.ts"
import { makeAccount, makeKey } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const standard = EmailAddress.make("us@messages.example")

const Subject = Layer.mergeAll(
  EmailDomains.layer.pipe(Layer.provide(Vault.layer(mainKey))),
  Layer.succeed(DefaultSender, DefaultSender.of({ address: standard }))
).pipe(Layer.provideMerge(TestDatabase.layer))

const another = NodeCrypto.generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
}).privateKey

layer(Subject, { excludeTestServices: true })("DkimSigners", (it) => {
  it.effect("signs for a domain that lost its verification, but not once another account is verified for it", () =>
    Effect.gen(function*() {
      const signerOf = yield* DkimSigners.make
      const { accountId: former } = yield* makeAccount()
      const { accountId: owner } = yield* makeAccount()
      const from = EmailAddress.make("us@shop.example")
      yield* insertDomain(former, "shop.example", { key: another, status: "pending" })
      assert.isTrue(Option.isSome(yield* signerOf(former, from)))
      yield* insertDomain(owner, "shop.example", { key: dkimKey.pem })
      assert.include((yield* Effect.flip(signerOf(former, from))).message, "belongs to another account")
      assert.isTrue(Option.isSome(yield* signerOf(owner, from)))
    }))

  it.effect("takes no notice of test accounts, of which any number may have a domain, and signs their mail too", () =>
    Effect.gen(function*() {
      const signerOf = yield* DkimSigners.make
      const from = EmailAddress.make("us@shared.example")
      const { accountId: owner } = yield* makeAccount()
      const { accountId: other } = yield* makeAccount()
      yield* insertDomain(owner, "shared.example", { key: dkimKey.pem })
      for (const account of [owner, other]) {
        yield* makeKey(account, { mode: "test" })
        yield* insertDomain(shadowOf(account), "shared.example", { key: another })
        yield* insertDomain(shadowOf(account), "messages.example", { key: another })
      }
      for (const account of [owner, shadowOf(owner), shadowOf(other)]) {
        assert.isTrue(Option.isSome(yield* signerOf(account, from)))
      }
      assert.isTrue(Option.isNone(yield* signerOf(null, standard)))
    }))

  it.effect("uses the default sender's verified key, never one that an account only added", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const signerOf = yield* DkimSigners.make
      const { accountId: operator } = yield* makeAccount()
      const { accountId: tenant } = yield* makeAccount()
      yield* insertDomain(tenant, "messages.example", { key: another, status: "pending" })
      assert.isTrue(Option.isNone(yield* signerOf(tenant, standard)))
      yield* insertDomain(operator, "messages.example", { key: dkimKey.pem })
      for (const account of [tenant, operator, null]) {
        const { key } = Option.getOrThrow(yield* signerOf(account, standard))
        assert.strictEqual(key.export({ type: "pkcs8", format: "pem" }), dkimKey.pem)
      }
      yield* sql`delete from email_domains`
    }))

  it.effect("uses the account's key for another sender, also while its domain awaits its next check", () =>
    Effect.gen(function*() {
      const signerOf = yield* DkimSigners.make
      const { accountId } = yield* makeAccount()
      const from = EmailAddress.make("them@messages.example")
      assert.strictEqual((yield* Effect.flip(signerOf(accountId, from)))._tag, "DkimSigningFailed")
      yield* insertDomain(accountId, "messages.example", { key: another, status: "pending" })
      const { key } = Option.getOrThrow(yield* signerOf(accountId, from))
      assert.strictEqual(key.export({ type: "pkcs8", format: "pem" }), another)
    }))
})
