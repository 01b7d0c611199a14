/** Endpoints that cost next to nothing: every request is answered with 200. One origin for each port that it prints. */
import * as NodeNet from "node:net"
import { inputOf } from "./script.ts"

const { count } = inputOf<{ readonly count: number }>()

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

const serve = (socket: NodeNet.Socket) => {
  let received = ""
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1")
    while (true) {
      const headEnd = received.indexOf("\r\n\r\n")
      if (headEnd < 0) return
      const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? "0"
      const end = headEnd + 4 + Number(length)
      if (received.length < end) return
      received = received.slice(end)
      socket.write(answer)
    }
  })
}

const listen = () =>
  new Promise<number>((resolve) => {
    const server = NodeNet.createServer(serve)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })

console.log(JSON.stringify({ ports: await Promise.all(Array.from({ length: count }, listen)) }))
