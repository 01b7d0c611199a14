import { Effect, type Scope } from "effect"
import * as NodeNet from "node:net"

/**
 * A TCP server that answers the first bytes of every connection with this text and hangs up, or calls a function for
 * every connection. Open connections are destroyed when the scope ends.
 */
export const makeRawServer = (
  answer: string | ((socket: NodeNet.Socket) => void)
): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: NodeNet.Server; readonly sockets: Set<NodeNet.Socket> }>((resume) => {
      const sockets = new Set<NodeNet.Socket>()
      const server = NodeNet.createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.once("close", () => sockets.delete(socket))
        if (typeof answer === "string") socket.once("data", () => socket.end(answer))
        else answer(socket)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, sockets })))
    }),
    ({ server, sockets }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
  ).pipe(Effect.map(({ server }) => {
    const address = server.address()
    return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
  }))
