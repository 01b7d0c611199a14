/**
 * A relay that costs next to nothing: it takes every message and keeps none, or, asked to defer, puts off every
 * recipient. It prints its port.
 */
import * as NodeNet from "node:net"
import { inputOf } from "./script.ts"

const { defer } = inputOf<{ readonly defer: boolean }>()

const replies: ReadonlyArray<readonly [command: string, reply: string]> = [
  ["EHLO", "250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 SIZE 35882577"],
  ["HELO", "250 sink"],
  ["RCPT", defer ? "450 4.2.1 later" : "250 2.1.5 ok"],
  ["DATA", defer ? "503 5.5.1 no recipients" : "354 go on"],
  ["QUIT", "221 2.0.0 bye"]
]

const replyTo = (line: string) => {
  const command = line.slice(0, 4).toUpperCase()
  return `${replies.find(([known]) => known === command)?.[1] ?? "250 2.0.0 ok"}\r\n`
}

const end = Buffer.from("\r\n.\r\n")

class Session {
  readonly #socket: NodeNet.Socket
  #rest: Buffer = Buffer.alloc(0)
  #inBody = false

  constructor(socket: NodeNet.Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on("data", (chunk) => this.#take(chunk))
    socket.on("error", () => {})
    socket.write("220 sink ESMTP\r\n")
  }

  #take(chunk: Buffer) {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let said = ""
    while (true) {
      const at = this.#inBody ? rest.indexOf(end) : rest.indexOf("\r\n")
      if (at < 0) break
      if (this.#inBody) said += "250 2.0.0 queued\r\n"
      const reply = this.#inBody ? "" : replyTo(rest.toString("latin1", 0, at))
      said += reply
      rest = rest.subarray(at + (this.#inBody ? end.length : 2))
      this.#inBody = reply.startsWith("354")
    }
    this.#rest = rest
    if (said === "") return
    this.#socket.write(said)
    if (said.includes("221 2.0.0")) this.#socket.end()
  }
}

const server = NodeNet.createServer((socket) => new Session(socket))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : 0 }))
})
