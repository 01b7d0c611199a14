import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import { Effect, Layer, Option, References } from "effect"
import { RunnerAddress } from "effect/cluster"
import * as NodeNet from "node:net"
import { AppConfig } from "../config/AppConfig.ts"
import { neighbours } from "./Neighbours.ts"
import { quietly } from "./withoutStartupNoise.ts"

/** A port that is free right now; who takes it in between makes the start fail, and the next start takes another. */
const freePort = (host: string) =>
  Effect.callback<number>((resume) => {
    const server = NodeNet.createServer()
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(0, host, () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resume(Effect.succeed(port)))
    })
  })

/**
 * Makes this node a runner: PostgreSQL says which node runs which actor. A node whose process dies is replaced within about
 * three seconds, see `Neighbours.ts`; one that falls silent within `shardLockExpiration` + `refreshAssignmentsInterval`;
 * one that leaves hands over at once.
 */
export const Cluster = Layer.unwrap(Effect.gen(function*() {
  const { runnerHost, runnerPort } = yield* AppConfig
  const port = runnerPort === 0 ? yield* freePort(runnerHost) : runnerPort
  const address = Option.some(RunnerAddress.make(runnerHost, port))
  const cluster = quietly(NodeClusterSocket.layer({
    storage: "sql",
    shardingConfig: {
      runnerAddress: address,
      runnerListenAddress: address,
      // Entities are placed by hash modulo this number: all nodes share it and it never changes.
      shardsPerGroup: 48,
      shardLockExpiration: "12 seconds",
      shardLockRefreshInterval: "4 seconds",
      refreshAssignmentsInterval: "1 second",
      entityMessagePollInterval: "1 second",
      runnerHealthCheckInterval: "10 seconds",
      entityTerminationTimeout: "10 seconds",
      entityMaxIdleTime: "5 minutes",
      maxResidentEntities: "unbounded"
    }
    // The library tells of every shard at level info, which is no news to an operator.
  })).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn")))
  return neighbours(`${runnerHost}:${port}`).pipe(Layer.provideMerge(cluster))
}))
