import type { Server } from "node:http"
import type { Socket } from "node:net"
import { networkOf } from "../../values/IpAddress.ts"

interface Limits {
  /** Most open connections. */
  readonly total: number
  /** Most open connections of an IPv4 address or an IPv6 network of 64 bits. */
  readonly perAddress: number
  /** Whether a peer is a proxy, which connects for many clients. */
  readonly isProxy: (address: string) => boolean
  /** Answers a connection that is one too many, and closes it. */
  readonly refuse: (socket: Socket) => void
}

/**
 * Bounds the open connections of a server. When it has as many as it may, a new connection replaces the one that has been
 * without a request for the longest time, so that silent connections cannot keep others out. A connection with a request
 * in flight is never replaced. The returned function notes a request that was answered at once.
 */
export const limitConnections = (server: Server, { isProxy, perAddress, refuse, total }: Limits) => {
  const open = new Map<string, number>()
  /** Connections without a request in flight, the oldest first. */
  const idle = new Set<Socket>()
  let count = 0

  const replaceOldest = () => {
    const [oldest] = idle
    if (oldest === undefined) return false
    idle.delete(oldest)
    oldest.destroy()
    return true
  }

  server.on("connection", (socket) => {
    const peer = socket.remoteAddress ?? ""
    const address = networkOf(peer)
    const ofAddress = (open.get(address) ?? 0) + 1
    const isRefused = (ofAddress > perAddress && !isProxy(peer)) || (count >= total && !replaceOldest())
    if (isRefused) return refuse(socket)
    count++
    open.set(address, ofAddress)
    idle.add(socket)
    socket.once("close", () => {
      count--
      idle.delete(socket)
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })

  for (const event of ["request", "checkContinue"]) {
    server.on(event, ({ socket }: { readonly socket: Socket }, response: NodeJS.EventEmitter) => {
      idle.delete(socket)
      response.once("close", () => {
        if (!socket.destroyed) idle.add(socket)
      })
    })
  }

  return (socket: Socket) => {
    if (idle.delete(socket)) idle.add(socket)
  }
}
