import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { RunnerAddress } from "effect/cluster"
import { SocketServer } from "effect/socket"
import * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import * as RunnerSockets from "../../../src/platform/cluster/RunnerSockets.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { makeRawServer } from "../../support/RawServer.ts"
import { selfSigned } from "../../support/selfSigned.ts"
import { eventually } from "../../support/waiting.ts"

const mainKey = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const vaultOf = (...keys: ReadonlyArray<number>) =>
  Effect.map(
    Layer.build(Vault.layer(mainKey(keys[0] ?? 0), keys[1] === undefined ? undefined : mainKey(keys[1]))),
    Context.get(Vault)
  )

/** A node that answers every connection with `hello` and counts them. */
const startNode = Effect.fnUntraced(function*(...keys: ReadonlyArray<number>) {
  const context = yield* Layer.build(
    RunnerSockets.layerServer(RunnerAddress.make("127.0.0.1", 0)).pipe(
      Layer.provide(Layer.succeed(Vault, yield* vaultOf(...keys)))
    )
  )
  const { address, run } = Context.get(context, SocketServer.SocketServer)
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  let connections = 0
  yield* Effect.forkScoped(run((socket) =>
    Effect.gen(function*() {
      connections += 1
      const { pull } = yield* socket.reader
      const { write } = yield* socket.writer
      yield* write("hello")
      return yield* Effect.forever(pull)
    }).pipe(Effect.scoped)
  ))
  return { port, connections: () => connections }
})

/** The first bytes that a node with these keys reads from this port. */
const call = Effect.fnUntraced(
  function*(port: number, ...keys: ReadonlyArray<number>) {
    const socket = yield* RunnerSockets.connect(yield* vaultOf(...keys), RunnerAddress.make("127.0.0.1", port))
    const { pull } = yield* socket.reader
    const [bytes] = yield* pull
    return Buffer.from(bytes).toString()
  },
  Effect.scoped,
  Effect.timeout("30 seconds")
)

const isRefused = (port: number, ...keys: ReadonlyArray<number>) =>
  Effect.match(call(port, ...keys), { onFailure: () => true, onSuccess: () => false })

const open = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<NodeNet.Socket>((resume) => {
      const socket = NodeNet.connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
      socket.on("error", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const closed = (socket: NodeNet.Socket) =>
  Effect.callback<void>((resume) => {
    if (socket.closed) return resume(Effect.void)
    socket.once("close", () => resume(Effect.void))
    socket.resume()
  }).pipe(Effect.timeout("30 seconds"))

describe("connections between nodes", () => {
  it.live("a node with the main key is answered", () =>
    Effect.gen(function*() {
      const { port } = yield* startNode(1)
      assert.strictEqual(yield* call(port, 1), "hello")
    }).pipe(Effect.scoped))

  it.live("nodes answer each other while the main key is rotated", () =>
    Effect.gen(function*() {
      const prepared = yield* startNode(1, 2)
      const rotated = yield* startNode(2, 1)
      assert.strictEqual(yield* call(prepared.port, 2, 1), "hello")
      assert.strictEqual(yield* call(rotated.port, 1, 2), "hello")
    }).pipe(Effect.scoped))

  it.live("a node with another main key is refused", () =>
    Effect.gen(function*() {
      const node = yield* startNode(1)
      assert.isTrue(yield* isRefused(node.port, 2))
      assert.strictEqual(node.connections(), 0)
    }).pipe(Effect.scoped))

  it.live("plain bytes and TLS without the key are refused", () =>
    Effect.gen(function*() {
      const node = yield* startNode(1)
      const plain = yield* open(node.port)
      plain.write(Buffer.alloc(10_000, "ping"))
      yield* closed(plain)
      const tls = NodeTls.connect({ port: node.port, host: "127.0.0.1", rejectUnauthorized: false })
      tls.on("error", () => {})
      yield* closed(tls)
      assert.strictEqual(node.connections(), 0)
    }).pipe(Effect.scoped))

  it.live("the replayed bytes of a node open no connection", () =>
    Effect.gen(function*() {
      const node = yield* startNode(1)
      const sent: Array<Buffer> = []
      const proxy = yield* makeRawServer((socket) => {
        const upstream = NodeNet.connect(node.port, "127.0.0.1")
        socket.on("data", (bytes) => sent.push(bytes))
        socket.pipe(upstream)
        upstream.pipe(socket)
        upstream.on("error", () => {})
      })
      yield* call(Number(new URL(proxy.url).port), 1)
      assert.strictEqual(node.connections(), 1)
      const replay = yield* open(node.port)
      replay.write(Buffer.concat(sent))
      yield* closed(replay)
      assert.strictEqual(node.connections(), 1)
    }).pipe(Effect.scoped))

  it.live("a node sends nothing to a server without the key, also with a certificate", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const server = NodeTls.createServer({ ...selfSigned, pskCallback: () => null }, (socket) => {
        socket.on("error", () => {})
        socket.on("data", (bytes) => seen.push(bytes.toString()))
        socket.write("hello")
      })
      server.on("tlsClientError", (_error, socket) => socket.destroy())
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close())
      )
      const address = server.address()
      const port = typeof address === "object" ? address?.port ?? 0 : 0
      assert.isTrue(yield* isRefused(port, 1))
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped))

  it.live("a flood of silent connections keeps no node out, and at most 128 stay open", () =>
    Effect.gen(function*() {
      const node = yield* startNode(1)
      const flood = yield* Effect.forEach(Array.from({ length: 1_000 }), () => open(node.port), { concurrency: 50 })
      flood.forEach((socket) => socket.resume())
      assert.strictEqual(yield* call(node.port, 1), "hello")
      // The node ends silent connections only after five seconds.
      yield* eventually(
        Effect.sync(() => flood.filter((socket) => !socket.closed).length),
        (count) => count <= 128,
        "4 seconds"
      )
    }).pipe(Effect.scoped))
})
