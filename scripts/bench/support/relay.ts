import { Effect } from "effect"
import { startPeer } from "./peer.ts"
import type { Arrivals, Relay } from "./smtpSink.ts"

/** A relay that takes all mail and keeps none, or puts off all of it: its port, and which singles came since last asked. */
export const startRelay = (input: { readonly defer?: boolean; readonly apart?: boolean } = {}) =>
  Effect.map(startPeer<Relay, object, Arrivals>("smtpSink.ts", input), ({ ask, hello: { port } }) => ({
    port,
    arrivals: Effect.map(ask({}), ({ arrivals }) => arrivals)
  }))
