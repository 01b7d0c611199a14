import { Console, Effect, Record } from "effect"
import { Command } from "effect/cli"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { DotEnv } from "../../platform/config/DotEnv.ts"
import { shown } from "../../platform/config/Setting.ts"
import { settings } from "../../platform/config/settings.ts"

/** The value of a setting that only the mode has set, as text. */
const byMode = (value: unknown) =>
  value === undefined ? undefined : value === Number.POSITIVE_INFINITY ? "no limit" : String(value)

const print = Effect.gen(function*() {
  const config = yield* AppConfig
  const { exists, originOf, path, warnings } = yield* DotEnv
  yield* Console.log(`# Mode: ${config.mode}, because ${config.modeReason}.`)
  yield* Console.log(`# File: ${path}${exists ? "" : " (does not exist)"}.`)
  for (const [key, setting] of Record.toEntries(settings)) {
    const text = yield* shown(setting)
    const deduced = text === "" ? byMode(config[key]) : undefined
    const origin = originOf(setting.name) ?? (deduced !== undefined ? "mode" : text === "" ? "unset" : "default")
    yield* Console.log(`${origin.padEnd(11)}  ${setting.name}=${deduced ?? text}`)
  }
  for (const warning of warnings) yield* Console.error(`WARN  ${warning}`)
})

export const config = Command.make("config", {}, () => print).pipe(
  Command.withDescription("Print all settings with their values and where these come from, secrets masked")
)
