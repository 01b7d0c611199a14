/**
 * Measures what the key of the port between nodes costs: round trips of a small call over one connection, and new
 * connections. Compared with the same sockets without TLS. Both sides run in this process and take turns.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { Context, Effect, Layer, type Scope } from "effect"
import { RunnerAddress } from "effect/cluster"
import { type Socket, SocketServer } from "effect/socket"
import * as RunnerSockets from "../../src/platform/cluster/RunnerSockets.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { vault } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 9
const trips = 2_000
const connections = 100
const host = "127.0.0.1"
const call = Buffer.alloc(300, "x")

const echo = (socket: Socket.Socket) =>
  Effect.gen(function*() {
    const { pull } = yield* socket.reader
    const { write } = yield* socket.writer
    return yield* Effect.forever(Effect.flatMap(pull, (chunks) => Effect.forEach(chunks, write, { discard: true })))
  }).pipe(Effect.scoped, Effect.ignore)

/** The port of an echo server. */
const serve = Effect.fnUntraced(function*<E, R>(server: Layer.Layer<SocketServer.SocketServer, E, R>) {
  const { address, run } = Context.get(yield* Layer.build(server), SocketServer.SocketServer)
  yield* Effect.forkScoped(run(echo))
  return address._tag === "UnixPathAddress" ? 0 : address.port
})

/** Sends calls one after the other. */
const exchange = (count: number) => (socket: Socket.Socket) =>
  Effect.gen(function*() {
    const { pull } = yield* socket.reader
    const { write } = yield* socket.writer
    const trip = Effect.gen(function*() {
      yield* write(call)
      let received = 0
      while (received < call.length) {
        for (const chunk of yield* pull) received += chunk.length
      }
    })
    yield* Effect.replicateEffect(trip, count, { discard: true })
  }).pipe(Effect.scoped)

const perSecond = Effect.fnUntraced(function*<E>(count: number, work: Effect.Effect<unknown, E>) {
  const startedAt = performance.now()
  yield* work
  return count / ((performance.now() - startedAt) / 1_000)
})

type Dial = Effect.Effect<Socket.Socket>

/** Both servers, as functions that connect to them. */
const start: Effect.Effect<{ ours: Dial; plain: Dial }, unknown, Scope.Scope> = Effect.gen(function*() {
  const keys = Context.get(yield* Layer.build(vault), Vault)
  const secured = yield* serve(
    RunnerSockets.layerServer(RunnerAddress.make(host, 0)).pipe(Layer.provide(Layer.succeed(Vault, keys)))
  )
  const plain = yield* serve(NodeSocketServer.layer({ host, port: 0 }))
  return {
    ours: Effect.suspend(() => RunnerSockets.connect(keys, RunnerAddress.make(host, secured))),
    plain: Effect.suspend(() => NodeSocket.makeNet({ host, port: plain }))
  }
})

const bench = Effect.gen(function*() {
  const { ours, plain } = yield* start
  const measureTrips = (dial: Dial) => perSecond(trips, Effect.flatMap(dial, exchange(trips)))
  const measureConnections = (dial: Dial) =>
    perSecond(connections, Effect.replicateEffect(Effect.flatMap(dial, exchange(1)), connections, { discard: true }))
  const compare = Effect.fnUntraced(function*(metric: string, measure: (dial: Dial) => Effect.Effect<number, unknown>) {
    const both = Effect.all({ value: measure(ours), limit: measure(plain) })
    yield* both
    const all = yield* Effect.replicateEffect(both, rounds)
    const line: Line = {
      metric,
      value: median(all.map(({ value }) => value)),
      limit: { name: "TCP without a key", value: median(all.map(({ limit }) => limit)) },
      ratio: median(all.map(({ limit, value }) => value / limit))
    }
    return line
  })
  yield* printTable(`nodes: calls of ${call.length} bytes between nodes, median of ${rounds} rounds`, [
    yield* compare("round trips/s over one connection", measureTrips),
    yield* compare("connections/s, each with one call", measureConnections)
  ])
})

NodeRuntime.runMain(Effect.scoped(bench))
