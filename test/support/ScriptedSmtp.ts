import { Effect } from "effect"
import type { Scope } from "effect"
import * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import { Changes } from "./Changes.ts"

/** A reply line, an action instead of one, a reply sent byte by byte with a pause, or one cut off by hanging up. */
export type ScriptedAnswer =
  | string
  | "close"
  | "silence"
  | { readonly slowly: string; readonly millis: number }
  | { readonly cutOff: string }

/** Everything left out is answered as by a correct server. */
export interface ScriptedSmtpOptions {
  readonly port?: number
  readonly greeting?: ScriptedAnswer | ((connection: number) => ScriptedAnswer)
  /** Lines of the EHLO answer after the first. */
  readonly extensions?: ReadonlyArray<string>
  /** Key and certificate for STARTTLS; without these the handshake never completes. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** The answer to a command line; undefined for the correct one. */
  readonly command?: (line: string, connection: number, isSecure: boolean) => ScriptedAnswer | undefined
  /** The answer to the final dot of the nth message (1 is the first). */
  readonly message?: (message: number, text: string) => ScriptedAnswer | undefined
  /**
   * A fault in the middle of a body, by the bytes read so far: the server disconnects, stops reading, or ends its side or
   * sends a line and ignores the rest.
   */
  readonly body?: (text: string) => "close" | "stall" | "end" | { readonly say: string } | undefined
}

/** An SMTP server that misbehaves on demand, for faults that a correct server never shows. */
export interface ScriptedSmtp {
  readonly port: number
  /** All command lines, each after its connection's number: "1 EHLO ...". */
  readonly commands: ReadonlyArray<string>
  readonly bodies: ReadonlyArray<string>
  /** `most` is the largest number open at once. */
  readonly connections: { readonly open: number; readonly total: number; readonly most: number }
  readonly until: (predicate: () => boolean, within?: `${number} seconds`) => Effect.Effect<void>
  /** Ends all connections, as relays do with idle ones, and waits until the clients have closed them. */
  readonly hangUp: Effect.Effect<void>
}

class Server implements ScriptedSmtp {
  readonly commands: Array<string> = []
  readonly bodies: Array<string> = []
  readonly connections = { open: 0, total: 0, most: 0 }
  readonly sockets = new Set<NodeNet.Socket>()
  readonly net: NodeNet.Server
  readonly #changes = new Changes(() => ({
    connections: this.connections,
    bodies: this.bodies.length,
    commands: this.commands.slice(-20)
  }))
  readonly until = this.#changes.until
  readonly hangUp = Effect.suspend(() => {
    for (const socket of this.sockets) socket.end("421 4.4.2 idle for too long\r\n")
    return this.until(() => this.connections.open === 0)
  })
  readonly #options: ScriptedSmtpOptions
  readonly #open = new Set<number>()

  constructor(options: ScriptedSmtpOptions) {
    this.#options = options
    this.net = NodeNet.createServer((socket) => this.#connected(socket))
  }

  get port() {
    const address = this.net.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }

  #connected(socket: NodeNet.Socket) {
    const connection = ++this.connections.total
    this.#open.add(connection)
    this.connections.open++
    this.sockets.add(socket)
    // The end of an earlier connection may be reported after this one, but in the same turn of the event loop.
    setImmediate(() => setImmediate(() => this.#count()))
    socket.setNoDelay(true)
    socket.on("end", () => this.#left(connection))
    socket.on("close", () => {
      this.sockets.delete(socket)
      this.#left(connection)
    })
    const { greeting = "220 scripted ESMTP" } = this.#options
    this.#converse(socket, connection)
    this.#answer(socket, typeof greeting === "function" ? greeting(connection) : greeting)
    this.#changes.notify()
  }

  #left(connection: number) {
    if (this.#open.delete(connection)) this.connections.open--
    this.#changes.notify()
  }

  #count() {
    this.connections.most = Math.max(this.connections.most, this.connections.open)
  }

  #converse(socket: NodeNet.Socket, connection: number) {
    let buffered = ""
    let inBody = false
    socket.on("error", () => {})
    socket.on("data", (chunk) => {
      buffered += chunk.toString("latin1")
      while (!socket.destroyed) {
        const fault = inBody ? this.#options.body?.(buffered) : undefined
        if (fault === "close") socket.destroy()
        if (fault === "stall") {
          // A socket that reads nothing does not see that the client has hung up, so it no longer counts as open.
          socket.pause()
          this.#left(connection)
        }
        if (fault === "end" || typeof fault === "object") {
          socket.removeAllListeners("data").resume()
          if (fault === "end") socket.end()
          else this.#answer(socket, fault.say)
        }
        if (fault !== undefined) break
        if (inBody && buffered.startsWith(".\r\n")) {
          // The client ends a message without recipients that it never began.
          buffered = buffered.slice(3)
          inBody = false
          this.#answer(socket, "554 5.5.1 no valid recipients")
          continue
        }
        const end = buffered.indexOf(inBody ? "\r\n.\r\n" : "\r\n")
        if (end < 0) break
        const text = buffered.slice(0, end)
        buffered = buffered.slice(end + (inBody ? 5 : 2))
        if (inBody) this.#message(socket, text)
        const answer = inBody ? "" : this.#command(socket, text, connection)
        inBody = typeof answer === "string" && answer.startsWith("354")
      }
      this.#changes.notify()
    })
  }

  #command(socket: NodeNet.Socket, line: string, connection: number) {
    this.commands.push(`${connection} ${line}`)
    const isSecure = socket instanceof NodeTls.TLSSocket
    const scripted = this.#options.command?.(line, connection, isSecure)
    const answer = scripted ?? this.#usual(line)
    this.#answer(socket, answer)
    if (scripted === undefined && line === "STARTTLS" && this.#options.tls !== undefined) {
      socket.removeAllListeners("data")
      this.#converse(new NodeTls.TLSSocket(socket, { isServer: true, ...this.#options.tls }), connection)
    }
    return answer
  }

  #message(socket: NodeNet.Socket, text: string) {
    this.bodies.push(text)
    this.#answer(socket, this.#options.message?.(this.bodies.length, text) ?? "250 2.0.0 taken")
  }

  #answer(socket: NodeNet.Socket, answer: ScriptedAnswer) {
    if (typeof answer === "object" && "cutOff" in answer) socket.end(answer.cutOff)
    else if (typeof answer === "object") this.#drip(socket, Buffer.from(`${answer.slowly}\r\n`), answer.millis)
    else if (answer === "close") socket.destroy()
    else if (answer !== "silence") socket.write(`${answer}\r\n`, "latin1")
  }

  #drip(socket: NodeNet.Socket, bytes: Buffer, millis: number) {
    if (socket.destroyed || bytes.length === 0) return
    socket.write(bytes.subarray(0, 1))
    setTimeout(() => this.#drip(socket, bytes.subarray(1), millis), millis)
  }

  #usual(line: string): ScriptedAnswer {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === "EHLO") {
      const lines = ["scripted", ...this.#options.extensions ?? ["PIPELINING", "8BITMIME"]]
      return lines.map((text, index) => `250${index === lines.length - 1 ? " " : "-"}${text}`).join("\r\n")
    }
    if (verb === "AUTH") return "235 2.7.0 welcome"
    if (verb === "DATA") return "354 go ahead"
    if (verb === "STAR") return "220 2.0.0 go ahead"
    return verb === "QUIT" ? "221 2.0.0 bye" : "250 2.0.0 ok"
  }
}

/** Starts the server on the loopback interface; it ends with the scope, and so do its connections. */
export const make = (options: ScriptedSmtpOptions = {}): Effect.Effect<ScriptedSmtp, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = new Server(options)
      server.net.listen(options.port ?? 0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.net.close(() => resume(Effect.void))
        for (const socket of server.sockets) socket.destroy()
      })
  )
