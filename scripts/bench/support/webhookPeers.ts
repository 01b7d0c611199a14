import type { Order, Sinks, Sunk } from "./httpSink.ts"
import { startPeer } from "./peer.ts"
import { type BenchDatabase, environment, profiling } from "./service.ts"
import type { Reply, Request } from "./webhookNode.ts"

/** A node that writes events and delivers them, ready to be asked. */
export const startNode = (database: BenchDatabase, nodeOptions: ReadonlyArray<string> = []) =>
  startPeer<object, Request, Reply>("webhookNode.ts", null, {
    env: environment(database),
    nodeOptions: [...profiling, ...nodeOptions]
  })

/** Endpoints that answer, and silent ones; `arrivals` when the time of each event is wanted. */
export const startSinks = (
  input: { readonly count: number; readonly silent?: number; readonly arrivals?: boolean }
) => startPeer<Sinks, Order, Sunk>("httpSink.ts", input)
