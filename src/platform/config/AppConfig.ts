import { Context, Effect, Layer, Record } from "effect"
import { type ByMode, byMode, type Written } from "./Mode.ts"
import * as Setting from "./Setting.ts"
import { settings } from "./settings.ts"

type Values = Omit<Written, keyof ByMode> & ByMode

/** The operator's settings, validated once at the start and completed by the mode. */
export class AppConfig extends Context.Service<AppConfig, Values>()("messaging-service/platform/config/AppConfig") {
  /** Reads every setting; fails with `WrongSetting` at the first invalid one. */
  static readonly layer: Layer.Layer<AppConfig, Setting.WrongSetting> = Layer.effect(
    AppConfig,
    Effect.gen(function*() {
      const entries = yield* Effect.forEach(
        Record.toEntries(settings),
        ([key, setting]) => Effect.map(Setting.read<unknown>(setting), (value) => [key, value] as const)
      )
      // The types of the table define each value's type; the compiler cannot follow a record built entry by entry.
      const written = Record.fromEntries(entries) as Written
      return AppConfig.of({ ...written, ...(yield* byMode(written)) })
    })
  )
}
