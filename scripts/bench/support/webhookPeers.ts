import type { Order, Sinks, Sunk } from "./httpSink.ts"
import { startPeer } from "./peer.ts"
import { type BenchDatabase, environment, profiling } from "./service.ts"
import type { Reply, Request } from "./webhookNode.ts"

/** Starts a node that inserts and delivers events. */
export const startNode = (database: BenchDatabase, nodeOptions: ReadonlyArray<string> = []) =>
  startPeer<object, Request, Reply>("webhookNode.ts", null, {
    env: environment(database),
    nodeOptions: [...profiling, ...nodeOptions]
  })

/** Starts endpoints that answer, and silent ones. With `arrivals` they record the time of each event. */
export const startSinks = (
  input: { readonly count: number; readonly silent?: number; readonly arrivals?: boolean }
) => startPeer<Sinks, Order, Sunk>("httpSink.ts", input)
