import { ConfigProvider, Context, Effect, FileSystem, Layer, Option, Path, Schema } from "effect"

/** The file exists, and this process may not read it. Without its settings the service would be another one. */
class DotEnvUnreadable extends Schema.TaggedError<DotEnvUnreadable>()("DotEnvUnreadable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The settings in ${this.path} cannot be read (${this.reason}). Let this account read the file, or remove it.`
  }
}

/** The file `.env` of the working directory. Its settings apply where the environment has none. */
export class DotEnv extends Context.Service<DotEnv, {
  readonly path: string
  /** Its content, if there is such a file. */
  readonly text: Option.Option<string>
}>()("messaging-service/platform/config/DotEnv") {
  /** Also adds the file's settings to the context's `ConfigProvider`. */
  static readonly layer = Layer.unwrap(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve(".env")
    const text = yield* fs.readFileString(path).pipe(
      Effect.asSome,
      Effect.catchIf(({ reason }) => reason._tag === "NotFound", () => Effect.succeedNone),
      Effect.mapError(({ reason }) => new DotEnvUnreadable({ path, reason: reason._tag }))
    )
    const settings = ConfigProvider.fromDotEnvContents(Option.getOrElse(text, () => ""))
    return Layer.merge(ConfigProvider.layerAdd(settings), Layer.succeed(DotEnv, { path, text }))
  }))
}
