import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { EmailBatchId } from "../../../values/Ids.ts"

/**
 * The actor of one bulk mail, keyed by its id. `Run` is persisted and stays open until the batch has ended: when its
 * node dies, the next owner of the shard is handed it again. `Wake` is a volatile nudge of the sweeper: look at the rows
 * now, and run the batch if nobody does. The same batch is never run twice at once.
 */
export const BatchEntity = Entity.make("EmailBatch", [
  Rpc.make("Run", { payload: { batchId: EmailBatchId }, primaryKey: ({ batchId }) => batchId })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Wake").annotate(ClusterSchema.InterruptOnTermination, true)
])
