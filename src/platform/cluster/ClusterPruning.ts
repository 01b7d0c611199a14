import { Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { SqlClient } from "effect/sql"

const prune = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from cluster_replies r using cluster_messages m
    where r.request_id = m.request_id and m.processed and m.last_read < now() - interval '1 day'`
  yield* sql`delete from cluster_messages where processed and last_read < now() - interval '1 day'`
})

/** The library keeps every persisted message for ever; one node removes those that were answered a day ago. */
export const ClusterPruning = Singleton.make(
  "ClusterPruning",
  prune.pipe(
    Effect.tapCause((cause) => Effect.logWarning("pruning of answered cluster messages failed", cause)),
    Effect.ignoreCause,
    Effect.repeat(Schedule.spaced("10 minutes"))
  )
)
