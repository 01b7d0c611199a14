import { Effect } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import type { FailoverId } from "../values/Ids.ts"

/** The longest wait for one actor. A call to a dead node's actor waits until another node has its shard. */
const wakeTimeout = "1 second"

/** The actor of one message with steps, keyed by its id. `Wake` is a volatile wake-up: the rows say what is due. */
export const FailoverEntity = Entity.make("Failover", [
  Rpc.make("Wake").annotate(ClusterSchema.InterruptOnTermination, true)
])

/** Wakes actors. A lost wake-up costs a second: the sweeper finds the same rows. */
export const makeWake = Effect.map(
  FailoverEntity.client,
  (actor) => (ids: ReadonlyArray<FailoverId>) =>
    Effect.forEach(
      ids,
      (id) => Effect.ignoreCause(Effect.timeoutOption(actor(id).Wake(undefined, { discard: true }), wakeTimeout)),
      { concurrency: 32, discard: true }
    )
)
