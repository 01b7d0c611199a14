import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Console, Effect, Layer, Redacted } from "effect"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Logs } from "../../../src/platform/observability/Logs.ts"

/** What a program with this LOG_FORMAT and LOG_LEVEL writes to standard error. */
const written = (format: string, program: Effect.Effect<void>, level = "info") =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const console = yield* Console.Console
    const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ LOG_FORMAT: format, LOG_LEVEL: level }))
    yield* program.pipe(
      Effect.provide(Logs.pipe(Layer.provide(AppConfig.layer), Layer.provide(settings))),
      Effect.provideService(Console.Console, { ...console, error: (...words) => void lines.push(words.join(" ")) })
    )
    return lines.join("\n")
  })

describe("LOG_FORMAT", () => {
  it.effect("pretty writes time, level and message on a line, and a cause with its stack below", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* written("pretty", Effect.logInfo("listening", "on 8080")),
        "00:00:00 info listening on 8080"
      )
      const failed = Effect.catchCause(
        Effect.die(new Error("broken")),
        (cause) => Effect.logError("it failed", cause)
      )
      assert.match(yield* written("pretty", failed), /^00:00:00 error it failed\n.*Error: broken\n +at /s)
    }))

  it.effect("pretty writes annotations behind the message, those of several words in quotes, and redacts secrets", () =>
    Effect.gen(function*() {
      const annotations = {
        request_id: "0190-a",
        remedy: "Free some space.",
        account: 7,
        reason: undefined,
        text: "\u001b[2J",
        key: Redacted.make("geheim")
      }
      assert.strictEqual(
        yield* written("pretty", Effect.annotateLogs(Effect.logWarning("slow"), annotations)),
        `00:00:00 warn slow request_id=0190-a remedy="Free some space." account=7 text="\\u001b[2J" key=<redacted>`
      )
      const failed = Effect.annotateLogs(Effect.logError("it failed", Cause.die(new Error("broken"))), { webhook: 7 })
      assert.match(yield* written("pretty", failed), /^00:00:00 error it failed webhook=7\n.*Error: broken\n/)
    }))

  it.effect("json writes one object on a line", () =>
    Effect.gen(function*() {
      const line = yield* written("json", Effect.annotateLogs(Effect.logWarning("slow"), { webhook: 7 }))
      assert.deepInclude(JSON.parse(line), { level: "WARN", message: "slow", annotations: { webhook: 7 } })
      assert.hasAllKeys(JSON.parse(line), ["timestamp", "level", "message", "annotations"])
      assert.hasAllKeys(JSON.parse(yield* written("json", Effect.logWarning("slow"))), [
        "timestamp",
        "level",
        "message"
      ])
    }))

  it.effect("with LOG_LEVEL=warn, warnings are written and information is not", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* written("pretty", Effect.logInfo("listening"), "warn"), "")
      assert.strictEqual(yield* written("pretty", Effect.logWarning("slow"), "warn"), "00:00:00 warn slow")
    }))
})
