/**
 * Cheap endpoints that answer every request with 200, one origin per port. Silent endpoints hold requests without an
 * answer until they are asked to release them. On request they record when the first byte of each event arrives.
 */
import * as NodeNet from "node:net"
import { answerQuestions } from "./peer.ts"
import { inputOf } from "./script.ts"

/** The addresses of the endpoints. */
export interface Sinks {
  readonly ports: ReadonlyArray<number>
  readonly silent: ReadonlyArray<number>
}

/** A request to the endpoints. */
export interface Order {
  /** Whether silent endpoints drop held and new requests, or hold them again. */
  readonly letGo?: boolean
}

/** The answer of the endpoints. */
export interface Sunk {
  /** Open connections of silent endpoints, each with a request. */
  readonly held: number
  /**
   * Each event's number, and the nanosecond of the monotonic clock of its first arrival. The answer clears the list.
   */
  readonly arrivals: ReadonlyArray<readonly [number, number]>
}

const { arrivals: keep = false, count, silent = 0 } = inputOf<{
  readonly count: number
  readonly silent?: number
  readonly arrivals?: boolean
}>()

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

let arrivals = new Map<number, number>()
const held = new Set<NodeNet.Socket>()
let lettingGo = false

const keepArrival = (request: string, at: number) => {
  const event = Number(/"data":\{"id":(\d+)/.exec(request)?.[1])
  if (!arrivals.has(event)) arrivals.set(event, at)
}

const serve = (socket: NodeNet.Socket) => {
  let received = ""
  let firstByteAt = 0
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    if (keep && received === "") firstByteAt = Number(process.hrtime.bigint())
    received += chunk.toString("latin1")
    while (true) {
      const headEnd = received.indexOf("\r\n\r\n")
      if (headEnd < 0) return
      const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? "0"
      const end = headEnd + 4 + Number(length)
      if (received.length < end) return
      if (keep) keepArrival(received, firstByteAt)
      received = received.slice(end)
      socket.write(answer)
    }
  })
}

const hold = (socket: NodeNet.Socket) => {
  socket.on("error", () => {})
  socket.on("data", () => {
    if (lettingGo) socket.destroy()
    else held.add(socket)
  })
  socket.on("close", () => held.delete(socket))
}

const listen = (take: (socket: NodeNet.Socket) => void) =>
  new Promise<number>((resolve) => {
    const server = NodeNet.createServer(take)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

const open = (endpoints: number, take: (socket: NodeNet.Socket) => void) =>
  Promise.all(Array.from({ length: endpoints }, () => listen(take)))

const sinks: Sinks = { ports: await open(count, serve), silent: await open(silent, hold) }

answerQuestions<Order>(sinks, async ({ letGo = lettingGo }): Promise<Sunk> => {
  lettingGo = letGo
  if (letGo) held.forEach((socket) => socket.destroy())
  const told = [...arrivals]
  arrivals = new Map()
  return { held: held.size, arrivals: told }
})
