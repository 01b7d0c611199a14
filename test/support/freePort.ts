import { Effect } from "effect"
import * as NodeNet from "node:net"

/**
 * A free port, for programs that need a port number at the start. It is outside the system's ephemeral range, so that no
 * outgoing connection can take it meanwhile.
 */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const port = 15_000 + Math.floor(Math.random() * 15_000)
  return Effect.callback<boolean>((resume) => {
    const server = NodeNet.createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  }).pipe(Effect.flatMap((free) => free ? Effect.succeed(port) : freePort))
})
