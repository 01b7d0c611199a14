import { Effect, type Scope } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeFs from "node:fs"
import * as NodeNet from "node:net"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeStream from "node:stream"
import { TestDatabase } from "./TestDatabase.ts"

/**
 * `gone`: connections break and new ones are refused. `silent`: they stay open but carry no data. `replaced`: those that are
 * open stay silent, because their machine died, and new ones reach another machine.
 */
export type DatabaseState = "up" | "gone" | "silent" | "replaced"

/** A proxy between one node and its database, which a test can cut while the database and its rows stay. */
export interface DatabaseProxy {
  /** DATABASE_URL through the proxy's unix socket. */
  readonly url: string
  readonly become: (state: DatabaseState) => Effect.Effect<void>
  /** Connections refused while it was gone. */
  readonly refused: Effect.Effect<number>
  /** How often the node has executed each statement. */
  readonly executions: Effect.Effect<ReadonlyMap<string, number>>
}

/** Added delay of each answer, in milliseconds. */
export interface Latency {
  readonly least: number
  readonly most: number
}

/** Emits each chunk after a delay, in order. */
class Delay extends NodeStream.Transform {
  readonly #waiting: Array<Buffer> = []

  constructor({ least, most }: Latency) {
    super({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#waiting.push(chunk)
        setTimeout(() => {
          if (!this.destroyed) this.push(this.#waiting.shift())
        }, NodeCrypto.randomInt(least, most + 1))
        done()
      }
    })
  }
}

/** The first text of a message that ends with a zero byte, and where it ends. */
const textAt = (message: Buffer, start: number) => {
  const end = message.indexOf(0, start)
  return { text: message.toString("utf8", start, end), end: end + 1 }
}

/** Counts the executions in what a client sends, by PostgreSQL's protocol 3.0: Parse, Bind, Execute. */
class StatementReader {
  readonly #counts: Map<string, number>
  readonly #prepared = new Map<string, string>()
  #bytes: Buffer = Buffer.alloc(0)
  #hasStarted = false
  #bound = ""

  constructor(counts: Map<string, number>) {
    this.#counts = counts
  }

  read(bytes: Buffer) {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (;;) {
      // The first message has no type.
      const head = this.#hasStarted ? 1 : 0
      if (this.#bytes.length < head + 4) return
      const length = head + this.#bytes.readUInt32BE(head)
      if (this.#bytes.length < length) return
      if (this.#hasStarted) this.#message(this.#bytes.subarray(0, length))
      this.#hasStarted = true
      this.#bytes = this.#bytes.subarray(length)
    }
  }

  #message(message: Buffer) {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === "P") {
      const name = textAt(message, 5)
      this.#prepared.set(name.text, textAt(message, name.end).text)
    } else if (type === "B") {
      const portal = textAt(message, 5)
      this.#bound = this.#prepared.get(textAt(message, portal.end).text) ?? ""
    } else if (type === "E") this.#counts.set(this.#bound, (this.#counts.get(this.#bound) ?? 0) + 1)
  }
}

class Proxy {
  readonly #pairs = new Set<readonly [NodeNet.Socket, NodeNet.Socket]>()
  readonly server: NodeNet.Server
  readonly executions = new Map<string, number>()
  refused = 0
  #state: DatabaseState = "up"

  constructor(target: { readonly host: string; readonly port: number }, latency: Latency | undefined) {
    this.server = NodeNet.createServer((client) => {
      if (this.#state === "gone") {
        this.refused++
        return void client.destroy()
      }
      const upstream = NodeNet.connect(target)
      const pair = [client, upstream] as const
      this.#pairs.add(pair)
      client.pipe(upstream)
      const statements = new StatementReader(this.executions)
      client.on("data", (bytes: Buffer) => statements.read(bytes))
      if (latency === undefined) upstream.pipe(client)
      else upstream.pipe(new Delay(latency), { end: false }).pipe(client)
      for (const [from, to] of [pair, [upstream, client] as const]) {
        from.on("error", () => {})
        from.once("close", () => {
          to.destroy()
          this.#pairs.delete(pair)
        })
      }
      if (this.#state === "silent") this.#each((socket) => void socket.unpipe().pause())
    })
  }

  #each(change: (socket: NodeNet.Socket) => void) {
    for (const pair of this.#pairs) for (const socket of pair) change(socket)
  }

  become(state: DatabaseState) {
    this.#state = state
    if (state === "silent") this.#each((socket) => void socket.unpipe().pause())
    else if (state === "replaced") {
      for (const [client, upstream] of this.#pairs) {
        client.unpipe().pause()
        // The server ends what a dead machine had begun. The client must not see that.
        upstream.unpipe().removeAllListeners("close").destroy()
      }
    } // Silenced connections are not resumed: after a cut in mid-message they are useless.
    else this.#each((socket) => socket.destroy())
  }
}

/** Starts a proxy in front of the test's database, delayed by the given latency; it ends with the scope. */
export const makeDatabaseProxy = Effect.fnUntraced(
  function*(latency?: Latency): Effect.fn.Return<DatabaseProxy, never, TestDatabase | Scope.Scope> {
    const { database, host, port, username } = yield* TestDatabase
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "proxy-"))),
      (made) => Effect.sync(() => NodeFs.rmSync(made, { recursive: true, force: true }))
    )
    const proxy = yield* Effect.acquireRelease(
      Effect.callback<Proxy>((resume) => {
        const made = new Proxy({ host, port }, latency)
        made.server.listen(NodePath.join(directory, ".s.PGSQL.5432"), () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.callback<void>((resume) => {
          made.become("gone")
          made.server.close(() => resume(Effect.void))
        })
    )
    return {
      url: `postgres://${username}@localhost/${database}?host=${encodeURIComponent(directory)}`,
      become: (state) => Effect.sync(() => proxy.become(state)),
      refused: Effect.sync(() => proxy.refused),
      executions: Effect.sync(() => new Map(proxy.executions))
    }
  }
)
