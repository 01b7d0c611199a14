import type { Server } from "node:http"
import type * as NodeNet from "node:net"

/** How long connections without a request stay open after the server has stopped listening. */
const graceMillis = 500

/** How long the server waits for a moment in which hardly any connection can arrive. */
const quietMillis = 2000

/** A turn of the event loop that is shorter did hardly anything, in milliseconds. A busy node has none, so this grows. */
const shortTurn = (waited: number) => 0.2 + waited / 500

/**
 * Makes `close` lose hardly any request that is on its way: a proxy does not repeat a POST that meets the end of its
 * connection. The kernel resets the connections that wait at a listening socket when it closes, so the server first accepts
 * what waits. It closes connections without a request only when proxies have had the time to notice that it no longer
 * listens.
 *
 * `others` are further sockets of the server, which hand it their connections.
 */
export const closeAfterGrace = (server: Server, others: ReadonlyArray<NodeNet.Server> = []): void => {
  const sockets = new Set<NodeNet.Socket>()
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
  const whenNoneArrives = (run: () => void, since: number) => {
    // The system seldom interrupts a process that has just slept.
    setTimeout(() => {
      const [before, began] = [accepted, performance.now()]
      setImmediate(() => {
        const now = performance.now()
        const waited = now - since
        if (waited > quietMillis || (accepted === before && now - began < shortTurn(waited))) run()
        else whenNoneArrives(run, since)
      })
    }, 1)
  }

  const closeQuiet = () => {
    closeIdle()
    // Browsers open spare connections. Node would wait for them as if they were busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  server.close = (callback) => {
    let open = 1 + others.length
    const closed = (error?: Error) => {
      open--
      if (open === 0) callback?.(error)
    }
    const stopListening = () => {
      for (const other of others) other.close(closed)
      close(closed)
      setTimeout(closeQuiet, graceMillis).unref()
    }
    whenNoneArrives(stopListening, performance.now())
    return server
  }
}
