import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { DefaultSender } from "../../../../src/channels/email/request/DefaultSender.ts"
import { makeDeliverabilityWarnings } from "../../../../src/channels/email/request/DeliverabilityWarnings.ts"
import { greetingName } from "../../../../src/channels/email/smtp/greetingName.ts"
import { DomainRegistrations } from "../../../../src/email-domains/DomainRegistrations.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { PublicUrl } from "../../../../src/platform/http/PublicUrl.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { AccountId } from "../../../../src/values/Ids.ts"

const account = AccountId.make(1)
const own = EmailAddress.make("us@news.example")

/** The default sender's domain is known, and an account's own one is. */
const Known = Layer.mock(DomainRegistrations)({
  warnings: () => Effect.succeed(["of the account's domain"]),
  verifiedWarnings: () => Effect.succeedSome(["of the default domain"])
})

const warnings = (settings: Readonly<Record<string, string>>, base: string) =>
  makeDeliverabilityWarnings.pipe(Effect.provide([
    AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))),
    Layer.succeed(DefaultSender, DefaultSender.of({ address: EmailAddress.make("us@service.example") })),
    Layer.succeed(PublicUrl, PublicUrl.of({ base, local: "" })),
    Known
  ]))

const relay = { SMTP_URL: "smtp://relay.example", HELO_NAME: "node.service.example" }
const https = "https://service.example"

describe("the warnings of a mail", () => {
  it.effect("in the sandbox are those of the account's own domain alone", () =>
    Effect.gen(function*() {
      const { ofBulk, ofSender } = yield* warnings({}, "http://127.0.0.1:8080")
      for (const  of of[ofBulk, ofSender]) {
        assert.deepStrictEqual(yield* of(account, undefined), [])
        assert.deepStrictEqual(yield* of(account, own), ["of the account's domain"])
      }
    }))

  it.effect("with a relay are those of the domain it comes from", () =>
    Effect.gen(function*() {
      const { ofBulk, ofSender } = yield* warnings(relay, https)
      for (const  of of[ofBulk, ofSender]) {
        assert.deepStrictEqual(yield* of(account, undefined), ["of the default domain"])
        assert.deepStrictEqual(yield* of(account, own), ["of the account's domain"])
      }
    }))

  it.effect("say of bulk mail alone that one click unsubscribes nobody where links are not https, or lead nowhere", () =>
    Effect.gen(function*() {
      for (const base of ["http://service.example", "https://localhost:8443", "https://[::1]/x", "https://127.0.0.1"]) {
        const { ofBulk, ofSender } = yield* warnings(relay, base)
        const [first, second, ...more] = yield* ofBulk(account, own)
        assert.strictEqual(first, "of the account's domain")
        assert.match(second ?? "", /one click .* PUBLIC_URL/)
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual(yield* ofSender(account, own), ["of the account's domain"])
      }
    }))

  it.effect("say of bulk mail that the service has no name, where its machine has none either", () =>
    Effect.gen(function*() {
      const { ofBulk } = yield* warnings({ SMTP_URL: relay.SMTP_URL }, https)
      const said = (yield* ofBulk(account, own)).filter((text) => text.includes("HELO_NAME"))
      assert.lengthOf(said, greetingName(undefined) === undefined ? 1 : 0)
    }))
})

describe("the name in EHLO", () => {
  it("is HELO_NAME, else the machine's own if that is a full one", () => {
    assert.strictEqual(greetingName("node.example", "host"), "node.example")
    assert.strictEqual(greetingName(undefined, "host.example"), "host.example")
    assert.isUndefined(greetingName(undefined, "host"))
    assert.isUndefined(greetingName(undefined, ""))
    assert.isUndefined(greetingName(undefined, "192.0.2.1"))
  })
})
