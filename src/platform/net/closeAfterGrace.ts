import type { Server } from "node:http"
import type * as NodeNet from "node:net"

/** How long connections without a request stay open after the server has stopped listening. */
const graceMillis = 500

/** How long the sockets wait together for a moment in which no connection arrives. */
const quietMillis = 500

/** A turn of the event loop that is shorter did nothing, in milliseconds. */
const idleTurn = 0.2

/**
 * Makes `close` lose no request that is on its way: a proxy does not repeat a POST that meets the end of its connection. The
 * kernel resets the connections that wait at a listening socket when it closes. So each socket closes in another turn, once
 * one has accepted all that waited. Connections without a request close only when proxies have had the time to notice
 * that the server no longer listens.
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
  const whenNoneArrives = (run: () => void, until: number) => {
    // The system seldom interrupts a process that has just slept.
    setTimeout(() => {
      const [before, began] = [accepted, performance.now()]
      setImmediate(() => {
        const now = performance.now()
        if (now > until || (accepted === before && now - began < idleTurn)) run()
        else whenNoneArrives(run, until)
      })
    }, 1)
  }

  const closeQuiet = () => {
    closeIdle()
    // Browsers open spare connections. Node would wait for them as if they were busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  server.close = (callback) => {
    const until = performance.now() + quietMillis
    let open = 1 + others.length
    const closed = (error?: Error) => {
      open--
      if (open === 0) callback?.(error)
    }
    // The server's socket is the first, because its close takes longest: the others accept meanwhile.
    const waiting = [...others.map((other) => other.close.bind(other)), close]
    const closeNext = () => {
      const closeOne = waiting.pop()
      if (closeOne === undefined) return void setTimeout(closeQuiet, graceMillis).unref()
      whenNoneArrives(() => {
        closeOne(closed)
        closeNext()
      }, until)
    }
    closeNext()
    return server
  }
}
