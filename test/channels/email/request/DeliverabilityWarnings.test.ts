import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { DefaultSender } from "../../../../src/channels/email/request/DefaultSender.ts"
import { DeliverabilityWarnings } from "../../../../src/channels/email/request/DeliverabilityWarnings.ts"
import { greetingName } from "../../../../src/channels/email/smtp/SmtpUrl.ts"
import { DomainRegistrations } from "../../../../src/email-domains/DomainRegistrations.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { PublicUrl } from "../../../../src/platform/http/PublicUrl.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"

const own = ["of the account's domain"]

/** Knows the default sender's domain. */
const Known = Layer.mock(DomainRegistrations)({
  verifiedWarnings: () => Effect.succeedSome(["of the default domain"])
})

const warnings = (settings: Readonly<Record<string, string>>, base: string, registrations = Known) =>
  Effect.provide(
    DeliverabilityWarnings,
    DeliverabilityWarnings.layer.pipe(Layer.provide([
      AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))),
      Layer.succeed(DefaultSender, DefaultSender.of({ address: EmailAddress.make("us@service.example") })),
      Layer.succeed(PublicUrl, PublicUrl.of({ base, local: "" })),
      registrations
    ]))
  )

const relay = { SMTP_URL: "smtp://relay.example", HELO_NAME: "node.service.example" }
const https = "https://service.example"

describe("DeliverabilityWarnings", () => {
  it.effect("warns only about the account's domain without a relay", () =>
    Effect.gen(function*() {
      const { ofBulk, ofSender } = yield* warnings({}, "http://127.0.0.1:8080")
      for (const  of of[ofBulk, ofSender]) {
        assert.deepStrictEqual(yield* of(undefined), [])
        assert.deepStrictEqual(yield* of(own), own)
      }
    }))

  it.effect("warns about the sender's domain with a relay", () =>
    Effect.gen(function*() {
      const { ofBulk, ofSender } = yield* warnings(relay, https)
      for (const  of of[ofBulk, ofSender]) {
        assert.deepStrictEqual(yield* of(undefined), ["of the default domain"])
        assert.deepStrictEqual(yield* of(own), own)
      }
    }))

  it.effect("reads the default sender's domain again at once after a failure, and keeps what it has read", () =>
    Effect.gen(function*() {
      let reads = 0
      const { ofSender } = yield* warnings(
        relay,
        https,
        Layer.mock(DomainRegistrations)({
          verifiedWarnings: () =>
            Effect.suspend(() =>
              ++reads === 1 ? Effect.die("no database") : Effect.succeedSome(["of the default domain"])
            )
        })
      )
      assert.isTrue(Exit.hasDies(yield* Effect.exit(ofSender(undefined))))
      for (const _ of [2, 3]) assert.deepStrictEqual(yield* ofSender(undefined), ["of the default domain"])
      assert.strictEqual(reads, 2)
    }))

  it.effect("warns about one-click unsubscribing only for bulk mail, unless links are https and public", () =>
    Effect.gen(function*() {
      for (const base of ["http://service.example", "https://localhost:8443", "https://[::1]/x", "https://127.0.0.1"]) {
        const { ofBulk, ofSender } = yield* warnings(relay, base)
        const [first, second, ...more] = yield* ofBulk(own)
        assert.strictEqual(first, "of the account's domain")
        assert.match(second ?? "", /one click.* PUBLIC_URL/)
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual(yield* ofSender(own), own)
      }
    }))

  it.effect("warns about a missing host name for EHLO in bulk mail", () =>
    Effect.gen(function*() {
      const { ofBulk } = yield* warnings({ SMTP_URL: relay.SMTP_URL }, https)
      const said = (yield* ofBulk(own)).filter((text) => text.includes("HELO_NAME"))
      assert.lengthOf(said, greetingName(undefined) === undefined ? 1 : 0)
    }))
})

describe("greetingName", () => {
  it("returns HELO_NAME, or the machine's name if that is a full host name", () => {
    assert.strictEqual(greetingName("node.example", "host"), "node.example")
    assert.strictEqual(greetingName(undefined, "host.example"), "host.example")
    assert.isUndefined(greetingName(undefined, "host"))
    assert.isUndefined(greetingName(undefined, ""))
    assert.isUndefined(greetingName(undefined, "192.0.2.1"))
  })
})
