import { Effect, type Scope } from "effect"
import * as NodeNet from "node:net"

/** A TCP server that answers the first bytes of every connection with these, whatever they are, and hangs up. */
export const makeRawServer = (answer: string): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<NodeNet.Server>((resume) => {
      const server = NodeNet.createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => socket.end(answer))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
      })
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
  }))
