import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Logger, Option, Random, References } from "effect"
import {
  RunnerAddress,
  RunnerHealth,
  Runners,
  ShardingConfig,
  SocketRunner,
  SqlMessageStorage,
  SqlRunnerStorage
} from "effect/cluster"
import { RpcSerialization } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../config/AppConfig.ts"
import * as Query from "../database/Query.ts"
import { refusal } from "../net/Listening.ts"
import { PeriodicTask } from "../work/PeriodicTask.ts"
import * as Neighbours from "./Neighbours.ts"
import * as RunnerSockets from "./RunnerSockets.ts"

/** The number of shards. The placement of actors depends on it: all nodes share it and it never changes. */
export const shards = 48

/**
 * A port that is free now, below the ports that systems give to outgoing connections, so that no connection
 * takes it before the node listens. If another process takes it, the start fails and the next one tries another.
 */
const freePort = (host: string): Effect.Effect<number> =>
  Effect.gen(function*() {
    const port = yield* Random.nextIntBetween(20_000, 30_000)
    return (yield* refusal(host, port)) === "EADDRINUSE" ? yield* freePort(host) : port
  })

/** Warnings of the library in every normal start and shutdown of a node. */
const expectedWarnings = ["No healthy runners available", "Could not find entity manager for address, retrying"]

const isExpected = (message: unknown): boolean =>
  Array.isArray(message) ? message.some(isExpected) : expectedWarnings.some((text) => text === message)

/** Removes expected warnings from a layer's logs, so that the remaining ones deserve attention. */
export const withoutStartupNoise = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.map(Logger.CurrentLoggers, (loggers) => {
    const filtered = [...loggers].map((logger) =>
      Logger.make((entry) => isExpected(entry.message) ? undefined : logger.log(entry))
    )
    return Layer.provide(layer, Layer.succeed(Logger.CurrentLoggers, new Set(filtered)))
  }))

/** A runner whose connections only nodes with the main key can use. */
const runnerAt = (address: RunnerAddress.RunnerAddress) => {
  const health = RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc))
  return SocketRunner.layer.pipe(
    Layer.provide(RunnerSockets.layerServer(address)),
    Layer.provide(health),
    Layer.provide(RunnerSockets.layerClient),
    Layer.provideMerge(SqlMessageStorage.layer.pipe(Layer.provide(NodeCrypto.layerDigest))),
    Layer.provide(Layer.orDie(SqlRunnerStorage.layer)),
    Layer.provide(RpcSerialization.layerSchemaBinary())
  )
}

/**
 * Makes this node a runner. PostgreSQL stores which node runs which actor. The shards of a node move at once when it shuts
 * down, within about three seconds when its process dies (see `Neighbours.ts`), and within `shardLockExpiration` +
 * `refreshAssignmentsInterval` when it falls silent.
 */
export const Cluster = Layer.unwrap(Effect.gen(function*() {
  const { runnerHost, runnerPort } = yield* AppConfig
  const port = runnerPort === 0 ? yield* freePort(runnerHost) : runnerPort
  const address = RunnerAddress.make(runnerHost, port)
  const cluster = runnerAt(address).pipe(
    Layer.provide(ShardingConfig.layer({
      runnerAddress: Option.some(address),
      shardsPerGroup: shards,
      shardLockExpiration: "12 seconds",
      shardLockRefreshInterval: "4 seconds",
      refreshAssignmentsInterval: "1 second",
      entityMessagePollInterval: "1 second",
      runnerHealthCheckInterval: "10 seconds",
      entityTerminationTimeout: "10 seconds",
      entityMaxIdleTime: "5 minutes",
      maxResidentEntities: "unbounded"
    })),
    withoutStartupNoise,
    // At level info the library logs every shard.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )
  return Neighbours.layer(`${runnerHost}:${port}`).pipe(Layer.provideMerge(cluster))
}))

/** Deletes answered messages of the cluster after a day, with their replies. */
export const pruneMessages = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Query.run(sql`delete from cluster_replies r using cluster_messages m
    where r.request_id = m.request_id and m.processed and m.last_read < now() - interval '1 day'`)
  yield* Query.run(sql`delete from cluster_messages where processed and last_read < now() - interval '1 day'`)
})

/** Runs {@link pruneMessages} every ten minutes: the library keeps every persisted message for ever. */
export const ClusterPruning = PeriodicTask.make("ClusterPruning", "10 minutes", pruneMessages)
