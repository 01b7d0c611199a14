import type { Order, Sinks, Sunk } from "./httpSink.ts"
import { startPeer } from "./peer.ts"
import { type BenchDatabase, environment, profiling } from "./service.ts"
import type { Reply, Request } from "./webhookNode.ts"

/** Starts a node that inserts and delivers events; `script` is the one of another version. */
export const startNode = (
  database: BenchDatabase,
  { nodeOptions = [], script = "webhookNode.ts" }: {
    readonly nodeOptions?: ReadonlyArray<string>
    readonly script?: string
  } = {}
) =>
  startPeer<object, Request, Reply>(script, null, {
    env: environment(database),
    nodeOptions: [...profiling, ...nodeOptions]
  })

/** Starts endpoints that answer, and silent ones. With `arrivals` they record the time of each event. */
export const startSinks = (
  input: { readonly count: number; readonly silent?: number; readonly arrivals?: boolean }
) => startPeer<Sinks, Order, Sunk>("httpSink.ts", input)
