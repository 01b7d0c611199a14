import { Effect } from "effect"
import { Command } from "effect/cli"

/** Runs a node until it is told to stop. Its program is loaded here, so that no other command waits for it. */
export const serve = Command.make(
  "serve",
  {},
  () => Effect.flatMap(Effect.promise(() => import("../runNode.ts")), ({ runNode }) => runNode)
).pipe(Command.withDescription("Run a node of the service: HTTP and actors, until Ctrl-C or SIGTERM"))
