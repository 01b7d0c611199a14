import { Context, Effect, Layer, Record } from "effect"
import * as Setting from "./Setting.ts"
import { settings } from "./settings.ts"

type Values = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting.Setting<infer A> ? A : never
}

/** The operator's settings, checked once at the start. */
export class AppConfig extends Context.Service<AppConfig, Values>()("messaging-service/platform/config/AppConfig") {
  /** Reads every setting; fails with `WrongSetting` on the first that cannot be used. */
  static readonly layer: Layer.Layer<AppConfig, Setting.WrongSetting> = Layer.effect(
    AppConfig,
    Effect.map(
      Effect.forEach(
        Record.toEntries(settings),
        ([key, setting]) => Effect.map(Setting.read<unknown>(setting), (value) => [key, value] as const)
      ),
      // The table's own types say what each reader returns; a mapped type cannot be built entry by entry.
      (entries) => AppConfig.of(Record.fromEntries(entries) as Values)
    )
  )
}
