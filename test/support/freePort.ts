import { Effect } from "effect"
import * as NodeNet from "node:net"

/** A free port, for programs that need a port number at the start. */
export const freePort = Effect.callback<number>((resume) => {
  const server = NodeNet.createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** A free port outside the system's ephemeral range, so that no outgoing connection can take it meanwhile. */
export const lowPort: Effect.Effect<number> = Effect.suspend(() => {
  const port = 15_000 + Math.floor(Math.random() * 15_000)
  return Effect.callback<boolean>((resume) => {
    const server = NodeNet.createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  }).pipe(Effect.flatMap((free) => free ? Effect.succeed(port) : lowPort))
})
