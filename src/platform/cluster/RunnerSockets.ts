/**
 * The connections between nodes: TLS 1.3 with a pre-shared key (RFC 8446, 2.2) that each node derives from the main key.
 * Without that key a stranger can neither connect, nor read, nor pretend to be a node. A replayed hello proves nothing,
 * because the server adds fresh bytes. During a rotation of the main key, nodes also accept the previous key.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Effect, Layer, Queue } from "effect"
import { type RunnerAddress, Runners } from "effect/cluster"
import { NetAddress } from "effect/net"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Socket, SocketServer } from "effect/socket"
import type * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import { Vault } from "../crypto/Vault.ts"
import { type ListenFailed, listenFailed, placeOf } from "../net/Listening.ts"

/** Where this node listens for others. */
export const runnerPlace = (address: { readonly host: string; readonly port: number }) =>
  placeOf({ host: "RUNNER_HOST", port: "RUNNER_PORT" }, address)

const purpose = "connections between nodes"

/** OpenSSL offers external keys for this cipher. With Nagle's algorithm a handshake would wait for a delayed ACK. */
const tls = { minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256", noDelay: true } as const

/** The longest handshake, in milliseconds. */
const handshakeTimeout = 5_000

/** The most unfinished handshakes. The next connection ends the oldest one, so a flood costs little memory. */
const maxHandshakes = 128

const reportInterval = "10 seconds"

/** Connects to another node, and only to one that has the key. */
export const connect = (vault: Vault["Service"], { host, port }: RunnerAddress.RunnerAddress) => {
  const [{ id, key }] = vault.sharedKeys(purpose)
  return NodeSocket.makeTls({
    ...tls,
    host,
    port,
    openTimeout: handshakeTimeout,
    pskCallback: () => ({ psk: key, identity: id }),
    // No certificate proves that the other side is a node.
    ca: [],
    checkServerIdentity: () => new Error("the other side has a certificate instead of the nodes' key")
  })
}

/** Unfinished handshakes, by the remote address of their connection. */
const makeHandshakes = () => {
  const open = new Map<string, NodeNet.Socket>()
  const nameOf = ({ remoteAddress, remotePort }: NodeNet.Socket) => `${remoteAddress} ${remotePort}`
  return {
    begin: (socket: NodeNet.Socket) => {
      const [oldest] = open.values()
      if (open.size >= maxHandshakes) oldest?.destroy()
      const name = nameOf(socket)
      open.set(name, socket)
      socket.once("close", () => open.delete(name))
    },
    end: (socket: NodeNet.Socket) => open.delete(nameOf(socket))
  }
}

/** Counts refused connections, and logs them from time to time, so that a flood does not fill the log. */
const makeRefusals = Effect.gen(function*() {
  let count = 0
  let lastAddress: string | undefined
  const report = Effect.suspend(() => {
    const facts = { count, lastAddress }
    count = 0
    return facts.count === 0
      ? Effect.void
      : Effect.logWarning("strangers were refused at the port between nodes").pipe(Effect.annotateLogs(facts))
  })
  yield* Effect.sleep(reportInterval).pipe(Effect.andThen(report), Effect.forever, Effect.forkScoped)
  return (socket: NodeNet.Socket) => {
    count += 1
    lastAddress = socket.remoteAddress
  }
})

/** Listens; `accepted` receives the connections of nodes, paused. */
const listen = Effect.fnUntraced(
  function*({ host, port }: RunnerAddress.RunnerAddress, accepted: Queue.Queue<NodeTls.TLSSocket>) {
    const keys = new Map((yield* Vault).sharedKeys(purpose).map(({ id, key }) => [id, key]))
    const refused = yield* makeRefusals
    const handshakes = makeHandshakes()
    const sockets = new Set<NodeNet.Socket>()
    const server = NodeTls.createServer({
      ...tls,
      handshakeTimeout,
      pskCallback: (_socket, identity) => keys.get(identity) ?? null
    })
    server.on("connection", (socket: NodeNet.Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      handshakes.begin(socket)
    })
    server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      // Neighbours only look whether the port is open.
      if (error.code !== "ECONNRESET") refused(socket)
      socket.destroy()
    })
    server.on("secureConnection", (socket) => {
      handshakes.end(socket)
      socket.pause()
      Queue.offerUnsafe(accepted, socket)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void, ListenFailed>((resume) => {
        server.once("error", (cause) => resume(listenFailed(runnerPlace({ host, port }), cause)))
        server.listen({ host, port }, () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          for (const socket of sockets) socket.destroy()
          server.close(() => resume(Effect.void))
        })
    )
    return server
  }
)

/** Accepts the connections of other nodes at this address. */
export const layerServer = (address: RunnerAddress.RunnerAddress) =>
  Layer.effect(
    SocketServer.SocketServer,
    Effect.gen(function*() {
      const accepted = yield* Queue.unbounded<NodeTls.TLSSocket>()
      const server = yield* listen(address, accepted)
      const bound = server.address()
      if (bound === null || typeof bound === "string") return yield* Effect.die("the node's port has no address")
      const serve = <R, E, A>(handler: (socket: Socket.Socket) => Effect.Effect<A, E, R>) =>
        Effect.gen(function*() {
          const connection = yield* Queue.take(accepted)
          const owned = Effect.acquireRelease(Effect.succeed(connection), () =>
            Effect.sync(() => connection.destroySoon()))
          const socket = yield* NodeSocket.fromDuplex(owned, { tlsServer: true })
          yield* handler(socket).pipe(
            Effect.ignoreCause({ log: "Debug", message: "a connection between nodes failed" }),
            Effect.forkScoped
          )
        }).pipe(Effect.forever, Effect.scoped)
      return SocketServer.SocketServer.of({
        address: NetAddress.inetAddressFromIpStringUnsafe(bound.address, bound.port),
        run: serve
      })
    })
  )

/** Sends calls to other nodes. */
export const layerClient = Layer.effect(
  Runners.RpcClientProtocol,
  Effect.gen(function*() {
    const vault = yield* Vault
    const serialization = yield* RpcSerialization.RpcSerialization
    return {
      codecFor: serialization.codecFor,
      make: Effect.fnUntraced(function*(address: RunnerAddress.RunnerAddress) {
        const socket = yield* connect(vault, address)
        return yield* RpcClient.makeProtocolSocket().pipe(
          Effect.provideService(Socket.Socket, socket),
          Effect.provideService(RpcSerialization.RpcSerialization, serialization)
        )
      })
    }
  })
)
