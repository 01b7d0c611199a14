import { Context, Effect, Layer, Record, Result } from "effect"
import { DotEnv } from "./DotEnv.ts"
import { type ByMode, byMode, type Written } from "./Mode.ts"
import * as Setting from "./Setting.ts"
import { settings } from "./settings.ts"
import { unknownInFile } from "./unknownNames.ts"

type Values = Omit<Written, keyof ByMode> & ByMode

/** Reads every setting. Fails with a sentence for each invalid one, after those that are known already. */
const read = Effect.fnUntraced(function*(known: ReadonlyArray<string>) {
  const reasons = [...known]
  const values: Record<string, unknown> = {}
  for (const [key, setting] of Record.toEntries(settings)) {
    const value = yield* Effect.result(Setting.read<unknown>(setting))
    if (Result.isSuccess(value)) values[key] = value.success
    else reasons.push(value.failure.message)
  }
  if (reasons.length > 0) return yield* new Setting.WrongSettings({ reasons })
  // The types of the table define each value's type; the compiler cannot follow a record built entry by entry.
  const written = values as Written
  const completed = yield* Effect.mapError(
    byMode(written),
    ({ message }) => new Setting.WrongSettings({ reasons: [message] })
  )
  return { ...written, ...completed }
})

/** The operator's settings, validated once at the start and completed by the mode. */
export class AppConfig extends Context.Service<AppConfig, Values>()("messaging-service/platform/config/AppConfig") {
  /** From the environment alone. */
  static readonly layer: Layer.Layer<AppConfig, Setting.WrongSettings> = Layer.effect(AppConfig, read([]))

  /** From the environment and `.env`, which may set nothing else. */
  static readonly layerWithDotEnv: Layer.Layer<AppConfig, Setting.WrongSettings, DotEnv> = Layer.effect(
    AppConfig,
    Effect.flatMap(DotEnv, ({ names, path }) => read(unknownInFile(path, names)))
  )
}
