import { Context, Effect, Layer, Record } from "effect"
import * as Setting from "./Setting.ts"
import { settings } from "./settings.ts"

type Values = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting.Setting<infer A> ? A : never
}

/** The operator's settings, validated once at the start. */
export class AppConfig extends Context.Service<AppConfig, Values>()("messaging-service/platform/config/AppConfig") {
  /** Reads every setting; fails with `WrongSetting` at the first invalid one. */
  static readonly layer: Layer.Layer<AppConfig, Setting.WrongSetting> = Layer.effect(
    AppConfig,
    Effect.map(
      Effect.forEach(
        Record.toEntries(settings),
        ([key, setting]) => Effect.map(Setting.read<unknown>(setting), (value) => [key, value] as const)
      ),
      // The types of the table define each value's type; the compiler cannot follow a record built entry by entry.
      (entries) => AppConfig.of(Record.fromEntries(entries) as Values)
    )
  )
}
