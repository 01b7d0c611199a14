import { Effect, Fiber, Layer } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { DotEnv } from "../../platform/config/DotEnv.ts"
import { DatabaseAddress } from "../../platform/database/Database.ts"
import { checkStart } from "./checkStart.ts"
import { logUpstreams } from "./destinations.ts"

/** Logs where the settings come from and where messages go. */
const logSettings = Effect.gen(function*() {
  const { exists, path, warnings } = yield* DotEnv
  yield* Effect.logInfo(
    exists
      ? `settings are from the environment and ${path}`
      : `settings are from the environment; ${path} does not exist`
  )
  for (const warning of warnings) yield* Effect.logWarning(warning)
  yield* logUpstreams
})

/** Preparing an empty database takes seconds, without another word. */
const logDatabase = Effect.flatMap(
  AppConfig,
  ({ dataDir, databaseUrl }) =>
    Effect.logInfo(databaseUrl === undefined ? `preparing the database in ${dataDir}` : "preparing the database")
)

/** Starts the embedded database while the rest of the program is loaded: each takes a second or more. */
const launch = Effect.scoped(Effect.gen(function*() {
  const scope = yield* Effect.scope
  const database = yield* Effect.forkChild(Layer.buildWithScope(DatabaseAddress.layer, scope))
  const { launchNode } = yield* Effect.promise(() => import("./launchNode.ts"))
  return yield* Effect.provide(launchNode, yield* Fiber.join(database))
}))

export const runNode = checkStart.pipe(
  Effect.andThen(logSettings),
  Effect.andThen(logDatabase),
  Effect.andThen(launch),
  Effect.onInterrupt(() => Effect.logInfo("stopped"))
)
