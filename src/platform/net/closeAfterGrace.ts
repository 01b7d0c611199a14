import type { Server } from "node:http"
import type { Socket } from "node:net"

/** How long connections without a request stay open after the server has stopped listening. */
const graceMillis = 500

/**
 * Makes `close` lose no request that is on its way: a proxy does not repeat a POST that meets the end of its connection. The
 * server first accepts what waits in the kernel. It closes connections without a request only when proxies have had the time
 * to notice that it no longer listens.
 */
export const closeAfterGrace = (server: Server): void => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const close = server.close.bind(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {}
  server.close = (callback) => {
    setImmediate(() => close(callback))
    setTimeout(() => {
      closeIdle()
      // Browsers open spare connections. Node would wait for them as if they were busy.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, graceMillis).unref()
    return server
  }
}
