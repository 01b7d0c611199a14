import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { upstreams } from "../../../src/platform/config/Upstreams.ts"

const withSettings = (values: Readonly<Record<string, string>>) =>
  AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(values))))

const read = (values: Readonly<Record<string, string>>) => Effect.provide(AppConfig, withSettings(values))

const database = { DATABASE_URL: "postgres://u:p@127.0.0.1/x" }

describe("MODE", () => {
  it.effect("is development on the embedded database while HOST and PUBLIC_URL are loopback addresses", () =>
    Effect.gen(function*() {
      const local = [
        {},
        { HOST: "localhost" },
        { HOST: "::1", PUBLIC_URL: "http://[::1]:8080" },
        { PUBLIC_URL: "http://localhost:8080" }
      ]
      for (const settings of local) {
        const config = yield* read(settings)
        assert.strictEqual(config.mode, "development")
        assert.deepStrictEqual([config.registration, config.webhookAllowLoopback], ["open", true])
        assert.isFalse(config.registrationConfirm)
        assert.deepStrictEqual([config.otpLimitHourAll, config.otpLimitDayAll], [Infinity, Infinity])
        assert.deepStrictEqual(
          yield* Effect.provide(upstreams, withSettings(settings)),
          { smtpUrl: "sandbox", smsProvider: "sandbox", whatsappUrl: "sandbox" }
        )
      }
    }))

  const production: ReadonlyArray<readonly [settings: Readonly<Record<string, string>>, reason: string]> = [
    [database, "DATABASE_URL is set"],
    [{ HOST: "0.0.0.0" }, "HOST is not a loopback address"],
    [{ HOST: "127.evil.example" }, "HOST is not a loopback address"],
    [{ PUBLIC_URL: "https://messages.example" }, "PUBLIC_URL is not a loopback address"],
    [{ MODE: "production" }, "MODE is set"]
  ]
  for (const [settings, reason] of production) {
    it.effect(`is production with ${Object.entries(settings).flat().join("=")}, which closes what was not asked for`, () =>
      Effect.gen(function*() {
        const config = yield* read(settings)
        assert.deepStrictEqual([config.mode, config.modeReason], ["production", reason])
        assert.deepStrictEqual([config.registration, config.webhookAllowLoopback], ["closed", false])
        assert.isTrue(config.registrationConfirm)
        assert.deepStrictEqual([config.otpLimitHourAll, config.otpLimitDayAll], [10, 40])
        const { message } = yield* Effect.flip(Effect.provide(upstreams, withSettings(settings)))
        assert.strictEqual(
          message,
          `SMTP_URL, SMS_PROVIDER and WHATSAPP_URL are required in production (${reason}). `
            + "Set each to the service that delivers the messages, or to sandbox to deliver none."
        )
      }))
  }

  it.effect("keeps in production what is asked for by name", () =>
    Effect.gen(function*() {
      const asked = { REGISTRATION: "open", WEBHOOK_ALLOW_LOOPBACK: "true", SMTP_URL: "sandbox", WHATSAPP_URL: "live" }
      const config = yield* read({ ...database, ...asked })
      assert.deepStrictEqual([config.registration, config.webhookAllowLoopback], ["open", true])
      const limited = yield* read({ ...database, OTP_LIMIT_HOUR: "7", OTP_LIMIT_DAY_ALL: "9" })
      assert.deepStrictEqual([limited.otpLimitHourAll, limited.otpLimitDayAll], [14, 9])
      const { message } = yield* Effect.flip(Effect.provide(upstreams, withSettings({ ...database, ...asked })))
      assert.match(message, /^SMS_PROVIDER is required in production \(DATABASE_URL is set\)\. Set it to /)
    }))

  it.effect("may be development with DATABASE_URL, but not where others have access", () =>
    Effect.gen(function*() {
      const config = yield* read({ ...database, MODE: "development" })
      assert.deepStrictEqual([config.mode, config.registration, config.smtpUrl], ["development", "open", "sandbox"])
      const { message } = yield* Effect.flip(read({ MODE: "development", HOST: "0.0.0.0" }))
      assert.strictEqual(
        message,
        "MODE must be production, because HOST is not a loopback address, but it is \"development\"."
      )
      const publicly = { MODE: "development", PUBLIC_URL: "https://messages.example" }
      assert.match((yield* Effect.flip(read(publicly))).message, /because PUBLIC_URL is not a loopback address/)
    }))
})
