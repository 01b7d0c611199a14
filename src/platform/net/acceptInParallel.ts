import type { Server } from "node:http"
import * as NodeNet from "node:net"

/**
 * Whether several sockets of this process may listen on one port (SO_REUSEPORT), so that the kernel shares the connections out
 * among them. Elsewhere it either refuses this or gives all connections to one of them.
 */
export const sharesPort = process.platform === "linux"

/** Sockets of one server. Each accepts one connection in a turn of the event loop. */
const sockets = 16

/**
 * Accepts connections on several sockets of the address on which the server listens with `reusePort`. libuv accepts one
 * connection of a socket in each turn of the event loop. Turns of a busy node are long, so with one socket many new clients
 * would wait for each other before it reads their requests. It returns these sockets, which do not close with the server.
 */
export const acceptInParallel = (server: Server, backlog: number): ReadonlyArray<NodeNet.Server> => {
  const others: Array<NodeNet.Server> = []
  server.once("listening", () => {
    const address = server.address()
    if (address === null || typeof address === "string") return
    while (others.length < sockets - 1) {
      // The options of Node's HTTP server.
      const other = NodeNet.createServer({ allowHalfOpen: true, noDelay: true })
      other.on("connection", (socket) => server.emit("connection", socket))
      // Without it, the others accept its share.
      other.on("error", () => {})
      others.push(other.listen({ host: address.address, port: address.port, backlog, reusePort: true }))
    }
  })
  return others
}
