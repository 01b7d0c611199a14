import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import { Changes } from "../../support/Changes.ts"
import { eventually, live, makeAccount, startNode } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** A raw connection with the bytes sent and received so far. */
const connect = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Connection>((resume) => {
      const socket: NodeNet.Socket = NodeNet.connect(port, "127.0.0.1", () =>
        resume(Effect.succeed(new Connection(socket))))
    }),
    ({ socket }) =>
      Effect.sync(() =>
        socket.destroy()
      )
  )

class Connection {
  readonly socket: NodeNet.Socket
  readonly #changes = new Changes(() => ({ isClosed: this.isClosed, text: this.text }))
  text = ""
  isClosed = false

  constructor(socket: NodeNet.Socket) {
    this.socket = socket
    socket.on("data", (bytes: Buffer) => {
      this.text += bytes.toString("latin1")
      this.#changes.notify()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      this.isClosed = true
      this.#changes.notify()
    })
  }

  readonly send = (...lines: ReadonlyArray<string>) => Effect.sync(() => void this.socket.write(lines.join("\r\n")))

  readonly until = (text: string) => this.#changes.until(() => this.text.includes(text) || this.isClosed)

  readonly closed = Effect.map(this.#changes.until(() => this.isClosed), () => this.text)
}

const isListening = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = NodeNet.connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.as(Effect.sync(() => socket.destroy()), true)))
    socket.once("error", () => resume(Effect.succeed(false)))
  })

layer(TestDatabase.layer)("a node that shuts down", (it) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.effect(`after ${signal} answers every request that has begun, closes its connection, and exits with code 0`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const node = yield* startNode()
        const { accountId, key } = yield* makeAccount()
        const body = JSON.stringify({ name: "In flight" })

        const inFlight = yield* connect(node.port)
        yield* inFlight.send(
          "POST /v1/api-keys HTTP/1.1",
          "Host: x",
          `Authorization: Bearer ${key}`,
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
          "Expect: 100-continue",
          "\r\n"
        )
        yield* inFlight.until("100 Continue")
        yield* inFlight.send(body.slice(0, 5))

        const [health, late] = [yield* connect(node.port), yield* connect(node.port)]
        for (const connection of [health, late]) {
          yield* connection.send("GET /health/ready HTTP/1.1", "Host: x", "\r\n")
          yield* connection.until(`"status":"ok"`)
        }
        yield* health.send("GET /health/ready HTTP/1.1", "Host: x", "")
        yield* late.send("GET /v1/api-keys HTTP/1.1", "Host: x", "")
        // A response after those bytes proves that the node has read them.
        yield* node.request("GET", "/health/live")

        const startedAt = yield* live(Clock.currentTimeMillis)
        yield* node.signal(signal)
        yield* eventually(isListening(node.port), (listens) => !listens)

        yield* health.send("", "\r\n")
        assert.match(yield* health.closed, /HTTP\/1\.1 503 [^]*connection: close[^]*\{"status":"draining"\}\n$/)
        yield* late.send(`Authorization: Bearer ${key}`, "\r\n")
        assert.match(yield* late.closed, /HTTP\/1\.1 200 [^]*connection: close[^]*"name":"Test"/)
        yield* inFlight.send(body.slice(5))
        assert.match(yield* inFlight.closed, /HTTP\/1\.1 201 [^]*"name":"In flight"/)

        assert.deepStrictEqual(yield* node.ended, { code: 0, signal: null })
        assert.isBelow((yield* live(Clock.currentTimeMillis)) - startedAt, 20_000)
        const names = yield* sql`select name from api_keys where account_id = ${accountId} order by id`
        assert.deepStrictEqual(names.map(({ name }) => name), ["Test", "In flight"])
      }))
  }

  it.effect("answers and closes connections for the drain time, which ends with the last connection", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: { DRAIN_SECONDS: "300" } })
      const { key } = yield* makeAccount()
      const idle = yield* connect(node.port)
      yield* idle.send("GET /health/live HTTP/1.1", "Host: x", "\r\n")
      yield* idle.until(`"status":"ok"`)
      yield* node.signal("SIGTERM")
      const ready = yield* eventually(node.request("GET", "/health/ready"), ({ status }) => status === 503)
      assert.deepStrictEqual(ready.json, { status: "draining" })
      const answer = yield* node.request("GET", "/v1/account", { key })
      assert.deepStrictEqual([answer.status, answer.headers["connection"]], [200, "close"])
      yield* idle.send("GET /v1/account HTTP/1.1", "Host: x", `Authorization: Bearer ${key}`, "\r\n")
      assert.match(yield* idle.closed, /HTTP\/1\.1 200 [^]*connection: close/)
      assert.deepStrictEqual(yield* node.ended, { code: 0, signal: null })
    }))

  it.effect("exits at once if nothing is in flight, although clients keep connections", () =>
    Effect.gen(function*() {
      const node = yield* startNode()
      const idle = yield* connect(node.port)
      yield* idle.send("GET /health/live HTTP/1.1", "Host: x", "\r\n")
      yield* idle.until(`"status":"ok"`)
      const silent = yield* connect(node.port)
      const startedAt = yield* live(Clock.currentTimeMillis)
      assert.deepStrictEqual(yield* node.stop("SIGTERM"), { code: 0, signal: null })
      assert.isBelow((yield* live(Clock.currentTimeMillis)) - startedAt, 15_000)
      yield* silent.closed
    }))

  it.effect(
    "exits within 20 seconds with code 0, although a client never ends its request",
    () =>
      Effect.gen(function*() {
        const node = yield* startNode()
        const { key } = yield* makeAccount()
        const endless = yield* connect(node.port)
        yield* endless.send(
          "POST /v1/api-keys HTTP/1.1",
          "Host: x",
          `Authorization: Bearer ${key}`,
          "Content-Type: application/json",
          "Content-Length: 100",
          "Expect: 100-continue",
          "\r\n"
        )
        yield* endless.until("100 Continue")
        const startedAt = yield* live(Clock.currentTimeMillis)
        assert.deepStrictEqual(yield* node.stop("SIGTERM"), { code: 0, signal: null })
        assert.isBelow((yield* live(Clock.currentTimeMillis)) - startedAt, 20_000)
      })
  )
})
