/**
 * A cheap relay: it accepts every message and stores none. Options make it defer every recipient, or answer pipelined
 * commands one by one instead of in one piece. It records when the message to a recipient that begins with `single` is
 * complete.
 */
import * as NodeNet from "node:net"
import { answerQuestions } from "./peer.ts"
import { inputOf } from "./script.ts"

/** The address of the relay. */
export interface Relay {
  readonly port: number
}

/**
 * Each recipient, and the nanosecond of the monotonic clock when its message was complete. The answer clears the list.
 */
export interface Arrivals {
  readonly arrivals: ReadonlyArray<readonly [string, number]>
}

const { apart = false, defer = false } = inputOf<{ readonly defer?: boolean; readonly apart?: boolean }>()

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

let arrivals: Array<readonly [string, number]> = []

class Session {
  readonly #socket: NodeNet.Socket
  #rest: Buffer = Buffer.alloc(0)
  #inBody = false
  #single: string | undefined

  constructor(socket: NodeNet.Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on("data", (chunk) => this.#take(chunk))
    socket.on("error", () => {})
    socket.write("220 sink ESMTP\r\n")
  }

  #answer(line: string) {
    if (line.startsWith("RCPT")) this.#single = /<(single[^>]*)>/.exec(line)?.[1]
    return replyTo(line)
  }

  #finish() {
    if (this.#single !== undefined) arrivals.push([this.#single, Number(process.hrtime.bigint())])
    return "250 2.0.0 queued\r\n"
  }

  #take(chunk: Buffer) {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let said = ""
    const say = (reply: string) => {
      said += reply
      if (apart && reply !== "") this.#socket.write(reply)
    }
    while (true) {
      const at = this.#inBody ? rest.indexOf(end) : rest.indexOf("\r\n")
      if (at < 0) break
      if (this.#inBody) say(this.#finish())
      const reply = this.#inBody ? "" : this.#answer(rest.toString("latin1", 0, at))
      say(reply)
      rest = rest.subarray(at + (this.#inBody ? end.length : 2))
      this.#inBody = reply.startsWith("354")
    }
    this.#rest = rest
    if (said === "") return
    if (!apart) this.#socket.write(said)
    if (said.includes("221 2.0.0")) this.#socket.end()
  }
}

const server = NodeNet.createServer((socket) => new Session(socket))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  answerQuestions({ port: typeof address === "object" ? address?.port : 0 }, async () => {
    const told = arrivals
    arrivals = []
    return { arrivals: told }
  })
})
