/**
 * Loads an HTTP server from a separate process. Each connection sends the next request after the answer to the last
 * one. Raw sockets with prebuilt bytes cost a tenth of an HTTP client, which matters because the generator shares the
 * cores with the server. An answer other than 2xx ends the process.
 */
import * as NodeNet from "node:net"
import { cpuOf, cpuOfChildren } from "./cpuTime.ts"
import { inputOf } from "./script.ts"

export interface Load {
  readonly port: number
  readonly method: "GET" | "POST"
  /** Connections use the keys in turn. */
  readonly callers: ReadonlyArray<{ readonly path: string; readonly key: string }>
  /** JSON text; empty for no body. */
  readonly body: string
  readonly connections: number
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Processes whose processor time counts. */
  readonly processes?: { readonly server: number; readonly postmaster: number }
}

export interface Loaded {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Microseconds on a processor for each request, of the server and of PostgreSQL. */
  readonly serverCpu: number
  readonly databaseCpu: number
}

const { body, callers, connections, method, port, processes, seconds, warmUpSeconds } = inputOf<Load>()

const requests = callers.map(({ key, path }) =>
  Buffer.from(
    [
      `${method} ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${key}`,
      ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
      "",
      body
    ].join("\r\n")
  )
)

const latencies: Array<number> = []
let measuring = false
let ended = false

/** The length of an answer with a complete head. */
const lengthOf = (text: string, headEnd: number): number => {
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (!head.startsWith("HTTP/1.1 2") || length === undefined) throw new Error(`unexpected answer:\n${text}`)
  return headEnd + 4 + Number(length)
}

const connect = (request: Buffer) => {
  const socket = NodeNet.connect(port, "127.0.0.1")
  let received = ""
  let expected = 0
  let sentAt = 0
  const send = () => {
    received = ""
    expected = 0
    sentAt = performance.now()
    socket.write(request)
  }
  socket.setNoDelay(true)
  socket.on("connect", send)
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1")
    if (expected === 0) {
      const headEnd = received.indexOf("\r\n\r\n")
      if (headEnd >= 0) expected = lengthOf(received, headEnd)
    }
    if (expected === 0 || received.length < expected) return
    if (measuring) latencies.push(performance.now() - sentAt)
    if (ended) socket.destroy()
    else send()
  })
  socket.on("error", (error) => {
    if (!ended) throw error
  })
}

for (let i = 0; i < connections; i++) connect(requests[i % requests.length] ?? Buffer.alloc(0))

const wait = (duration: number) => new Promise((resolve) => setTimeout(resolve, duration * 1000))

const cpu = () => ({
  server: processes === undefined ? 0 : cpuOf(processes.server),
  database: processes === undefined ? 0 : cpuOfChildren(processes.postmaster)
})

await wait(warmUpSeconds)
const before = cpu()
measuring = true
const startedAt = performance.now()
await wait(seconds)
measuring = false
ended = true
const elapsed = (performance.now() - startedAt) / 1000
const after = cpu()
latencies.sort((a, b) => a - b)
const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0
const loaded: Loaded = {
  perSecond: latencies.length / elapsed,
  p50: at(0.5),
  p99: at(0.99),
  serverCpu: (after.server - before.server) / latencies.length,
  databaseCpu: (after.database - before.database) / latencies.length
}
console.log(JSON.stringify(loaded))
process.exit(0)
