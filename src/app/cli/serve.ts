import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { welcome } from "../firstStart.ts"
import { Server } from "../Server.ts"

const announce = Layer.effectDiscard(Effect.gen(function*() {
  const { base } = yield* PublicUrl
  yield* Effect.logInfo(`listening on ${base} (docs at ${base}/docs, Ctrl-C stops)`)
  yield* welcome(base)
}))

/** Taken down first of all: a stop that hangs ends the process all the same, and rows tell the next start the rest. */
const leaveInTime = Layer.effectDiscard(
  Effect.addFinalizer(() =>
    Effect.sleep("15 seconds").pipe(Effect.andThen(Effect.sync(() => process.exit(0))), Effect.forkDetach)
  )
)

/** Runs a node until it is told to stop. */
export const serve = Command.make(
  "serve",
  {},
  () => Layer.launch(leaveInTime.pipe(Layer.provideMerge(announce), Layer.provideMerge(Server)))
).pipe(Command.withDescription("Run a node of the service: HTTP and actors, until Ctrl-C or SIGTERM"))
