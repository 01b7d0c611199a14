import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { shown } from "../../../src/platform/config/Setting.ts"
import { settings } from "../../../src/platform/config/settings.ts"

const environment = (values: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromUnknown(values))

const read = (values: Record<string, string>) =>
  Effect.provide(AppConfig, AppConfig.layer.pipe(Layer.provide(environment(values))))

describe("AppConfig", () => {
  it.effect("requires no variable", () =>
    Effect.gen(function*() {
      const config = yield* read({})
      assert.strictEqual(config.port, 8080)
      assert.strictEqual(config.databaseUrl, undefined)
      assert.strictEqual(config.mode, "development")
    }))

  it.effect("treats an empty variable as unset", () =>
    Effect.gen(function*() {
      const config = yield* read({ PORT: "", DATABASE_URL: "", REGISTRATION: "" })
      assert.strictEqual(config.port, 8080)
      assert.strictEqual(config.databaseUrl, undefined)
    }))

  const wrong: ReadonlyArray<readonly [name: string, value: string, sentence: RegExp]> = [
    ["PORT", "eighty", /^PORT must be a whole number from 0 to 65535, but it is "eighty"\.$/],
    ["PORT", "65536", /^PORT must be/],
    ["PORT", "8080.5", /^PORT must be/],
    ["REGISTRATION", "maybe", /^REGISTRATION must be open or closed, but it is "maybe"\.$/],
    ["WEBHOOK_ALLOW_LOOPBACK", "yes", /^WEBHOOK_ALLOW_LOOPBACK must be true or false/],
    ["TRIAL_CHANNELS", "email,fax", /^TRIAL_CHANNELS must be some of email, sms, whatsapp, separated by commas/],
    ["TRUSTED_PROXIES", "10.0.0.0/8, everyone", /^TRUSTED_PROXIES must be addresses or networks/],
    ["DNS_SERVERS", "dns.example:53", /^DNS_SERVERS must be addresses of name servers such as 127\.0\.0\.1:53/],
    ["DNS_SERVERS", "127.0.0.1:0", /^DNS_SERVERS must be/],
    ["DNS_SERVERS", "127.0.0.1:65536", /^DNS_SERVERS must be/],
    ["DNS_SERVERS", ",", /^DNS_SERVERS must be/],
    ["SPF_INCLUDE_HOST", "192.0.2.1", /^SPF_INCLUDE_HOST must be a domain name/],
    ["PUBLIC_URL", "example.com", /^PUBLIC_URL must be a URL that starts with http:\/\/ or https:\/\//],
    ["ENCRYPTION_KEY", "c2hvcnQ=", /^ENCRYPTION_KEY must be 32 bytes in base64/],
    ["DATABASE_URL", "mysql://root:secret@db/x", /^DATABASE_URL must be a URL that starts with postgres:\/\//]
  ]
  for (const [name, value, sentence] of wrong) {
    it.effect(`explains in one sentence why ${name}=${value} is invalid`, () =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(read({ [name]: value }))
        assert.match(message, sentence)
        assert.notInclude(message, "secret")
        assert.notInclude(message, "c2hvcnQ")
      }))
  }

  it.effect("shows every value except secrets", () =>
    Effect.gen(function*() {
      const variables = environment({ SMTP_URL: "smtp://user:geheim@relay:25", PORT: "9000" })
      const all = yield* Effect.forEach(Object.values(settings), shown).pipe(Effect.provide(variables))
      assert.include(all, "9000")
      assert.include(all, "********")
      assert.notInclude(all.join("\n"), "geheim")
    }))

  it.effect("parses a key, a list of networks and a URL", () =>
    Effect.gen(function*() {
      const key = Buffer.alloc(32, 7).toString("base64")
      const config = yield* read({
        ENCRYPTION_KEY: key,
        TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7",
        PUBLIC_URL: "https://msg.example"
      })
      assert.strictEqual(config.encryptionKey === undefined ? 0 : Redacted.value(config.encryptionKey).length, 32)
      assert.strictEqual(config.trustedProxies?.length, 2)
      assert.strictEqual(config.publicUrl === undefined ? "" : Redacted.value(config.publicUrl).host, "msg.example")
    }))

  it.effect("parses name servers of both families, with and without a port, in their order", () =>
    Effect.gen(function*() {
      const config = yield* read({ DNS_SERVERS: "192.0.2.1, 192.0.2.2:5353,[::1]:53, 2001:db8::1" })
      assert.deepStrictEqual(config.dnsServers, ["192.0.2.1:53", "192.0.2.2:5353", "[::1]:53", "[2001:db8::1]:53"])
      assert.strictEqual((yield* read({ SPF_INCLUDE_HOST: "SPF.Example.com." })).spfIncludeHost, "spf.example.com")
    }))
})
