import { Effect } from "effect"
import { startPeer } from "./peer.ts"
import type { Arrivals, Relay } from "./smtpSink.ts"

/** A relay that accepts or defers all mail: its port, and the single emails since the last question. */
export const startRelay = (input: { readonly defer?: boolean; readonly apart?: boolean } = {}) =>
  Effect.map(startPeer<Relay, object, Arrivals>("smtpSink.ts", input), ({ ask, hello: { port } }) => ({
    port,
    arrivals: Effect.map(ask({}), ({ arrivals }) => arrivals)
  }))
