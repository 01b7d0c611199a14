import type { Server } from "node:http"
import type { Socket } from "node:net"

/** How long connections without a request stay open after the server has stopped listening. */
const graceMillis = 500

/** A turn of the event loop that is shorter did nothing, in milliseconds. */
const idleTurn = 0.2

/**
 * Makes `close` lose no request that is on its way: a proxy does not repeat a POST that meets the end of its connection. The
 * server first accepts what waits in the kernel, which resets the connections that wait when it closes. It closes
 * connections without a request only when proxies have had the time to notice that it no longer listens.
 */
export const closeAfterGrace = (server: Server): void => {
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on("connection", (socket) => {
    accepted++
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const close = server.close.bind(server)
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {}

  /** Runs once a turn has accepted nothing and was short, so that hardly any connection can have arrived during it. */
  const whenNoneArrives = (run: () => void, until: number) => {
    const [before, began] = [accepted, performance.now()]
    setImmediate(() => {
      const now = performance.now()
      if (now > until || (accepted === before && now - began < idleTurn)) run()
      else whenNoneArrives(run, until)
    })
  }

  const closeQuiet = () => {
    closeIdle()
    // Browsers open spare connections. Node would wait for them as if they were busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  server.close = (callback) => {
    const stopListening = () => {
      close(callback)
      setTimeout(closeQuiet, graceMillis).unref()
    }
    setImmediate(() => whenNoneArrives(stopListening, performance.now() + graceMillis))
    return server
  }
}
