import { ConfigProvider, Context, Effect, FileSystem, Layer, Option, Path, Record, Schema } from "effect"
import * as NodeProcess from "node:process"
import { parseEnv } from "node:util"
import { unknownInEnvironment } from "./unknownNames.ts"

/** The file exists, and this process may not read it. Without its settings the service would be another one. */
class DotEnvUnreadable extends Schema.TaggedError<DotEnvUnreadable>()("DotEnvUnreadable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The settings in ${this.path} cannot be read (${this.reason}). Let this account read the file, or remove it.`
  }
}

/** An empty variable counts as unset, because shells and compose files leave such variables. */
const isSet = (text: string | undefined): text is string => (text ?? "") !== ""

/** The file `.env` of the working directory. Its settings apply where the environment has none. */
export class DotEnv extends Context.Service<DotEnv, {
  readonly path: string
  readonly exists: boolean
  /** The names that the file sets. */
  readonly names: ReadonlyArray<string>
  /** Where the value of a variable comes from; undefined if neither sets it. */
  readonly originOf: (name: string) => "environment" | ".env" | undefined
  /** A sentence for each variable of the environment that looks like a misspelt setting. */
  readonly warnings: ReadonlyArray<string>
}>()("messaging-service/platform/config/DotEnv") {
  /** Also sets the context's `ConfigProvider`. */
  static readonly layer = Layer.unwrap(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).resolve(".env")
    const text = yield* fs.readFileString(path).pipe(
      Effect.asSome,
      Effect.catchIf(({ reason }) => reason._tag === "NotFound", () => Effect.succeedNone),
      Effect.mapError(({ reason }) => new DotEnvUnreadable({ path, reason: reason._tag }))
    )
    const values = parseEnv(Option.getOrElse(text, () => ""))
    const ofFile = Record.filter(values, isSet)
    const ofEnvironment = Record.filter(NodeProcess.env, isSet)
    const file = DotEnv.of({
      path,
      exists: Option.isSome(text),
      names: Object.keys(values),
      warnings: unknownInEnvironment(Object.keys(NodeProcess.env)),
      originOf: (name) =>
        Record.has(ofEnvironment, name) ? "environment" : Record.has(ofFile, name) ? ".env" : undefined
    })
    // One record for both: asked for CONSOLE, a provider of the environment alone also finds CONSOLE_ALLOW, which hides CONSOLE
    // of the file.
    const provider = ConfigProvider.fromEnv({ env: { ...ofFile, ...ofEnvironment } })
    return Layer.merge(ConfigProvider.layer(provider), Layer.succeed(DotEnv, file))
  }))
}
