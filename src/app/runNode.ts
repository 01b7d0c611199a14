import { Effect, Exit, Layer } from "effect"
import { untilDatabaseIsThere } from "../platform/database/untilDatabaseIsThere.ts"
import { PublicUrl } from "../platform/http/PublicUrl.ts"
import { welcome } from "./firstStart.ts"
import { Server } from "./Server.ts"

const announce = Layer.effectDiscard(Effect.gen(function*() {
  const { base, local } = yield* PublicUrl
  yield* Effect.logInfo(`listening on ${local} (docs at ${base}/docs, Ctrl-C stops)`)
  yield* welcome(base)
}))

/**
 * Taken down first of all when told to stop: a stop that hangs ends the process all the same, and rows tell the next
 * start the rest.
 */
const leaveInTime = Layer.effectDiscard(
  Effect.addFinalizer((exit) =>
    Exit.hasInterrupts(exit)
      ? Effect.sleep("15 seconds").pipe(Effect.andThen(Effect.sync(() => process.exit(0))), Effect.forkDetach)
      : Effect.void
  )
)

/** A node of the service, until it is told to stop. */
export const runNode = untilDatabaseIsThere(
  Layer.launch(leaveInTime.pipe(Layer.provideMerge(announce), Layer.provideMerge(Server)))
)
