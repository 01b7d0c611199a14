import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PeriodicTask } from "../work/PeriodicTask.ts"

/** One round of {@link ClusterPruning}. */
export const prune = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from cluster_replies r using cluster_messages m
    where r.request_id = m.request_id and m.processed and m.last_read < now() - interval '1 day'`
  yield* sql`delete from cluster_messages where processed and last_read < now() - interval '1 day'`
})

/** The library keeps every persisted message for ever; this removes those that were answered a day ago. */
export const ClusterPruning = PeriodicTask.make("ClusterPruning", "10 minutes", prune)
